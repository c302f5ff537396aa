import type { Params } from '../define.js';
import type { Methods } from '../methods/catalog.js';
import { attachments } from './attachment-tables.js';
import { list, object, type SupportOf, unused, used } from './support.js';

type Send = Params<Methods['session.send']>;
type Fields<T> = NonNullable<T>;

const notSent = 'this version does not pass it on to the model service.';

const responseFormat: SupportOf<Fields<Send['responseFormat']>> = {
  type: used,
  jsonSchema: object({
    name: used,
    schema: used,
    description: unused(notSent),
    strict: unused('every answer is held against the schema.', true),
  } satisfies SupportOf<Fields<Send['responseFormat']>['jsonSchema']>),
};

/** What becomes of each field of `session.send`. */
export const sendOptions: SupportOf<Send> = {
  sessionId: used,
  prompt: used,
  displayPrompt: used,
  attachments,
  mode: used,
  agentMode: used,
  messageId: used,
  requestHeaders: used,
  headerMergeStrategy: used,
  output: object({ schema: used, name: used }),
  responseFormat: object(responseFormat),
  traceparent: used,
  tracestate: used,
  prepend: used,
  billable: unused('nothing is billed here.', true),
  requiredTool: unused('the model chooses its tools by itself.'),
  source: used,
  wait: used,
};

type Messages = Params<Methods['session.sendMessages']>;

/** What becomes of each field of `session.sendMessages`. */
export const sendMessagesOptions: SupportOf<Messages> = {
  sessionId: used,
  messages: list({
    prompt: used,
    displayPrompt: used,
    attachments,
    billable: sendOptions.billable,
    requiredTool: sendOptions.requiredTool,
    source: used,
  } satisfies SupportOf<Messages['messages'][number]>),
  mode: used,
  agentMode: used,
  prepend: used,
  requestHeaders: used,
  responseFormat: sendOptions.responseFormat,
  traceparent: used,
  tracestate: used,
  wait: used,
};

type Insert = Params<Methods['session.queue.insertAt']>;

/** What becomes of each field of `session.queue.insertAt`; those that ask how it is delivered have no effect there. */
export const insertOptions: SupportOf<Insert> = {
  sessionId: used,
  position: used,
  message: object({
    prompt: used,
    displayPrompt: used,
    attachments,
    agentMode: used,
    requestHeaders: used,
    requiredTool: sendOptions.requiredTool,
    source: used,
    billable: sendOptions.billable,
  } satisfies SupportOf<Insert['message']>),
};
