import * as z from 'zod/mini';
import { method } from '../define.js';
import { openObject } from '../schema.js';
import { inSession } from './session-ref.js';

/** What this machine can confine commands with. */
export const sandboxMethods = {
  'sandbox.getHostSupport': method(
    'Whether commands can run in a sandbox on this machine, and why not.',
    () => openObject({}),
    () =>
      openObject({
        supported: z.boolean(),
        reason: z.optional(z.string()),
        capabilities: z.array(openObject({ name: z.string(), supported: z.boolean() })),
      }),
  ),
};

/** Where a session's commands run. */
export const sessionSandboxMethods = {
  'session.sandbox.getEnforcementStatus': method(
    'Says where the next command runs, and whether it is refused because a required sandbox does not work.',
    () => inSession({}),
    () =>
      openObject({
        /** A sandbox was asked for: without it nothing runs. */
        required: z.boolean(),
        /** Nothing runs, because a sandbox is required and does not work. */
        blocked: z.boolean(),
        reason: z.optional(z.string()),
        /** The next command runs in it. */
        enabled: z.boolean(),
        executor: z.enum(['host', 'bwrap', 'seatbelt']),
        network: z.boolean(),
      }),
  ),
  'session.sandbox.disableForSession': method(
    'Approves a request to leave the sandbox; no tool makes one, so it is refused. Use `session.options.update`.',
    () => inSession({ requestId: z.string() }),
    () => openObject({ success: z.boolean(), enabled: z.boolean() }),
  ),
  'session.sandbox.grantPathForRequest': method(
    'Approves a request for a path outside the sandbox; no tool makes one, so it is refused. Use `session.options.update`.',
    () => inSession({ requestId: z.string() }),
    () => openObject({ success: z.boolean() }),
  ),
};
