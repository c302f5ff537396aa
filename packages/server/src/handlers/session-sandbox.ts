import type { Methods } from '@groundcrew/protocol';
import { Refusal } from '../failure.js';
import type { Handlers, SessionHandlers } from '../handler.js';

export const sandboxHandlers: Handlers<Pick<Methods, 'sandbox.getHostSupport'>> = {
  async 'sandbox.getHostSupport'(_params, { runtime }) {
    const reason = await runtime.sandboxProblem();
    return { supported: reason === undefined, ...(reason !== undefined && { reason }), capabilities: [] };
  },
};

type Names = Extract<keyof Methods, `session.sandbox.${string}`>;

export const sessionSandboxHandlers: SessionHandlers<Pick<Methods, Names>> = {
  'session.sandbox.getEnforcementStatus': (_params, { session }) => session.sandbox.status(),
  'session.sandbox.disableForSession': async (params) => refuseWay(params),
  'session.sandbox.grantPathForRequest': async (params) => refuseWay(params),
};

/** No tool asks to leave the sandbox, so there is never such a request to approve. */
function refuseWay({ requestId }: { readonly requestId: string }): never {
  throw new Refusal(
    `No pending request ${requestId} asks to leave the sandbox: no tool makes such requests. A client changes the sandbox by session.options.update with sandbox or sandboxConfig`,
  );
}
