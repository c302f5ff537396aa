import type { Methods } from '@groundcrew/protocol';
import type { Handlers } from '../handler.js';

export const toolsHandlers: Handlers<Pick<Methods, 'tools.list'>> = {
  async 'tools.list'(_params, { runtime }) {
    return {
      tools: runtime.builtinTools().map(({ name, description, inputSchema, notes }) => ({
        name,
        description,
        parameters: { ...inputSchema },
        ...(notes !== undefined && { instructions: notes }),
      })),
    };
  },
};
