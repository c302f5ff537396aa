import { defineTool } from './define-tool.js';
import { describeShells } from './shell/describe.js';
import type { Tool } from './tool.js';

/** Says which commands run in the background, and which have ended and not been read. */
export function listBashTool(): Tool {
  return defineTool({
    name: 'list_bash',
    description:
      'Lists the commands that run in the background, and those that have ended and were not read yet.',
    changesNothing: true,
    fields: {},
    isRepeatable: true,
    isFree: true,
    prepare: (_input, context) => ({
      type: 'run',
      run: async () => ({ type: 'success', text: describeShells(await context.shells.open()) }),
    }),
  });
}
