import type { AskedClient } from '../questions/asked-client.js';
import type { HookOptions, HookSource } from './hooks.js';

/** The hooks of an attached client. */
export function clientHooks(client: AskedClient, sessionId: string, options: HookOptions): HookSource {
  return {
    name: 'a client',
    ...options,
    invoke: async (hookType, input, signal) => {
      const answer = await client.ask('hooks.invoke', { sessionId, hookType, input }, signal);
      return answer?.output;
    },
  };
}
