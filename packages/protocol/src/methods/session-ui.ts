import * as z from 'zod/mini';
import { method } from '../define.js';
import { limitsDecision } from '../events/input.js';
import { flag, text } from '../fields.js';
import { openObject } from '../schema.js';
import { exitPlanAction } from '../settings.js';
import { inSession, success } from './session-ref.js';

/** A flat object of simple values; which ones, the runtime checks. */
const formSchema = () =>
  openObject({
    type: z.literal('object'),
    properties: z.record(text(), z.unknown()),
    required: z.optional(z.array(text())),
  });

const filledForm = () => ({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.optional(z.nullable(z.record(text(), z.unknown()))),
});

/** Forms and questions that some client shows to users. */
export const sessionUiMethods = {
  'session.ui.ephemeralQuery': method(
    'Asks the model about the conversation; question and answer do not become part of it.',
    () => inSession({ question: z.string() }),
    () => openObject({ answer: z.string() }),
  ),
  'session.ui.elicitation': method(
    'Shows a form, or a page to visit, to users through a client that can; answers with what they entered.',
    () =>
      inSession({
        /** `url` shows a page to visit instead of a form. */
        mode: z.optional(z.enum(['form', 'url'])),
        message: text(),
        requestedSchema: z.optional(formSchema()),
        url: z.optional(text()),
      }),
    () => openObject(filledForm()),
  ),
  'session.ui.handlePendingAutoModeSwitch': method(
    'Decides whether another model may answer while one is rate limited; false when it was answered before.',
    () => inSession({ requestId: text(), response: z.enum(['yes', 'yes_always', 'no']) }),
    success,
  ),
  'session.ui.handlePendingElicitation': method(
    'Answers a form; false when it was answered before.',
    () => inSession({ requestId: text(), result: openObject(filledForm()) }),
    success,
  ),
  'session.ui.handlePendingExitPlanMode': method(
    'Decides what follows a plan; false when another client has answered before.',
    () =>
      inSession({
        requestId: text(),
        response: openObject({
          approved: z.boolean(),
          selectedAction: z.optional(exitPlanAction()),
          autoApproveEdits: z.optional(z.boolean()),
          feedback: z.optional(text()),
          /** The plan is approved, and is to be carried out another time. */
          deferImplementation: z.optional(z.boolean()),
        }),
      }),
    success,
  ),
  'session.ui.handlePendingSampling': method(
    'Answers what an MCP server wants of a model; without a response the request is refused. False means that it was answered before.',
    () => inSession({ requestId: text(), response: z.optional(z.record(text(), z.unknown())) }),
    success,
  ),
  'session.ui.handlePendingSessionLimitsExhausted': method(
    'Decides how a session continues that has reached a limit; false when it was answered before.',
    () =>
      inSession({
        requestId: text(),
        response: limitsDecision(),
      }),
    success,
  ),
  'session.ui.handlePendingUserInput': method(
    "Answers a question of the agent; false when it was answered before, or isn't asked any more.",
    () =>
      inSession({
        requestId: text(),
        response: openObject({ answer: text(), wasFreeform: z.optional(z.boolean()) }),
      }),
    success,
  ),
  'session.ui.registerDirectAutoModeSwitchHandler': method(
    'From now on the caller answers `auto_mode_switch.requested` from the event: no client is sent `autoModeSwitch.request`. It ends with the handle, or when the caller leaves.',
    () => inSession({}),
    () => openObject({ handle: text() }),
  ),
  'session.ui.unregisterDirectAutoModeSwitchHandler': method(
    'Gives back a handle of `registerDirectAutoModeSwitchHandler`; false when there is no such handle.',
    () => inSession({ handle: text() }),
    () => openObject({ unregistered: flag() }),
  ),
};
