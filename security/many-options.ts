import type { FreezeCase } from './freeze-case.js';

/** A few megabytes of small options: to check, to look up and to store each would take the main thread a third of a second. */
export const manyOptions: FreezeCase = {
  name: 'options of as many values as a message may have',
  prepare: async (runtime) => {
    const server = { command: 'true', args: ['a'], tools: ['*'] };
    const mcpServers = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`s${index}`, server]),
    );
    const section = { action: 'remove' };
    const sections = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`s${index}`, section]));
    const unknown = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`o${index}`, true]));
    const [tool] = [{ name: 'look', ...unknown }];
    const odd = Object.fromEntries(Array.from({ length: 18 }, (_, index) => [`unknown${index}`, true]));
    const tools = Array.from({ length: 4000 }, (_, index) => ({
      name: `t${index}`,
      description: '',
      ...odd,
    }));
    const { sessionId } = await runtime.client.create({});
    return async () => {
      for (const [method, params] of [
        ['session.create', unknown],
        ['session.create', { infiniteSessions: unknown }],
        ['session.create', { tools: [tool] }],
        ['session.mcp.list', { sessionId, ...unknown }],
        ['session.permissions.configure', { sessionId, ...unknown }],
      ] as const) {
        const { message } = await runtime.client.failure(method, params);
        if (!/too many values/.test(String(message))) throw new Error(`another failure: ${String(message)}`);
      }
      for (const settings of [{ mcpServers }, { systemMessage: { mode: 'customize', sections } }]) {
        const { message } = await runtime.client.failure('session.create', settings);
        if (!/too many values/.test(String(message))) throw new Error(`another failure: ${String(message)}`);
      }
      // As many as are taken: each unknown field of each tool is looked up.
      await runtime.client.create({ tools });
    };
  },
};
