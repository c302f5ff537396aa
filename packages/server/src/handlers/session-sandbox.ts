import type { Methods } from '@groundcrew/protocol';
import { refuse } from '../failure.js';
import { findSession } from '../find.js';
import type { CallContext, Handlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.sandbox.${string}`>;

export const sessionSandboxHandlers: Handlers<Pick<Methods, Names>> = {
  'session.sandbox.getEnforcementStatus': ({ sessionId }, context) =>
    findSession('session.sandbox.getEnforcementStatus', sessionId, context).sandbox.status(),
  'session.sandbox.disableForSession': async (params, context) =>
    refuseWay('session.sandbox.disableForSession', params, context),
  'session.sandbox.grantPathForRequest': async (params, context) =>
    refuseWay('session.sandbox.grantPathForRequest', params, context),
};

/** No tool asks to leave the sandbox, so there is never such a request to approve. */
function refuseWay(
  method: Names,
  { sessionId, requestId }: { readonly sessionId: string; readonly requestId: string },
  context: CallContext,
): never {
  findSession(method, sessionId, context);
  throw refuse(
    method,
    `No pending request ${requestId} asks to leave the sandbox: no tool makes such requests. A client changes the sandbox by session.options.update with sandbox or sandboxConfig`,
  );
}
