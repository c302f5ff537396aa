import { randomUUID } from 'node:crypto';
import { type JsonObject, type Methods, type ParsedParams, withoutNulls } from '@groundcrew/protocol';
import type { Prompt, Session } from '@groundcrew/runtime';
import { requirePromptSize } from './content-sizes.js';
import { Refusal } from './failure.js';
import type { SessionCallContext } from './handler.js';
import { traceFrom } from './trace.js';

type SendParams = ParsedParams<Methods['session.send']>;
type Shared = Pick<
  SendParams,
  'mode' | 'agentMode' | 'prepend' | 'requestHeaders' | 'headerMergeStrategy' | 'traceparent' | 'tracestate'
>;

/** Gives the session a prompt; resolves with its id when it is stored. */
export async function sendPrompt(
  params: SendParams,
  context: SessionCallContext,
  messageId: string = params.messageId ?? randomUUID(),
): Promise<string> {
  const text = typeof params.prompt === 'string' ? params.prompt : '';
  const prompt: Prompt = {
    messageId,
    ...messageOf({ ...params, prompt: text }),
    ...settingsOf(params),
    ...(params.output && { output: wishOf(params.output) }),
  };
  await submit(prompt, params, context);
  return messageId;
}

/** Sends what has been put together; the options that it came with are looked at before. */
export async function submit(
  prompt: Prompt,
  params: Shared & Pick<SendParams, 'messageId'>,
  context: SessionCallContext,
): Promise<void> {
  const { session, client } = context;
  const trace = traceFrom(params);
  await session.audience.renewGitHubTokens();
  session.optionWarnings.add(context.optionWarnings());
  await warnOfMode(session, params.mode);
  if (params.agentMode === 'shell') session.optionWarnings.add([shellMode]);
  const strategy = params.headerMergeStrategy ?? client.dialect.headerStrategy;
  await session.send(prompt, {
    isIdempotent: params.messageId !== undefined,
    isFirst: params.prepend === true,
    ...(params.requestHeaders && { requestHeaders: { values: params.requestHeaders, strategy } }),
    ...(trace && { trace }),
  });
}

/** The words of a message and what comes with them; throws when that is too much. */
export function messageOf({
  prompt: text,
  displayPrompt,
  source,
  attachments = [],
}: {
  readonly prompt: string;
} & Pick<SendParams, 'displayPrompt' | 'source' | 'attachments'>): Pick<
  Prompt,
  'text' | 'displayText' | 'source' | 'attachments'
> {
  requirePromptSize(text, attachments);
  requirePromptSize(displayPrompt ?? '');
  return {
    text,
    ...(displayPrompt !== undefined && { displayText: displayPrompt }),
    ...(source !== undefined && { source }),
    ...(attachments.length > 0 && { attachments: attachments.map(withoutNulls) as JsonObject[] }),
  };
}

/** How a prompt is delivered, and the form its answer has to have. */
export function settingsOf({
  mode,
  agentMode,
  responseFormat,
  output,
}: Pick<SendParams, 'mode' | 'agentMode' | 'responseFormat' | 'output'>): Pick<
  Prompt,
  'mode' | 'agentMode' | 'output'
> {
  if (responseFormat && mode === 'immediate')
    throw new Refusal("'responseFormat' holds for a whole turn: it cannot be sent with mode 'immediate'.");
  if (responseFormat && output)
    throw new Refusal("'responseFormat' and 'output' both name a form of the answer: send one.");
  return {
    mode: mode === 'immediate' ? 'immediate' : 'enqueue',
    ...(agentMode !== undefined && { agentMode }),
    ...(responseFormat && { output: wishOf(responseFormat.jsonSchema) }),
  };
}

const shellMode =
  "The option 'agentMode': \"shell\" has no effect: the prompt goes to the model. 'session.shell.executeUserRequested' runs commands.";

/** Larger schemas would go to the model with every call. */
const largestSchema = 64 * 1024;

function wishOf({
  schema,
  name = 'answer',
}: {
  readonly schema: object;
  readonly name?: string | undefined;
}) {
  const length = JSON.stringify(schema).length;
  if (length > largestSchema)
    throw new Refusal(`output.schema has ${length} characters, at most ${largestSchema} are taken`);
  return { name, schema: schema as JsonObject, repairs: 0 };
}

/** Clients of some releases send the session's mode here; it has no effect, and they are warned. */
async function warnOfMode(session: Session, mode: string | undefined): Promise<void> {
  if (mode === undefined || mode === 'enqueue' || mode === 'immediate') return;
  const message = `The mode ${JSON.stringify(mode)} of session.send has no effect: it may be "enqueue" or "immediate". session.mode.set changes the mode of the session.`;
  await session.emit({
    type: 'session.warning',
    ephemeral: true,
    data: { warningType: 'configuration', message },
  });
}
