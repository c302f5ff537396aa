import { defineTool } from './define-tool.js';
import { text } from './fields.js';
import type { Tool } from './tool.js';

/** Ends a command in the background with all that it has started. */
export function stopBashTool(): Tool {
  return defineTool({
    name: 'stop_bash',
    description: 'Stops a command that runs in the background, and all that it has started.',
    changesNothing: true,
    fields: { shellId: text('The id of the command, as bash gave it.') },
    isRepeatable: true,
    isFree: true,
    prepare: ({ shellId }, context) => ({
      type: 'run',
      run: async () => {
        const shells = await context.shells.open();
        const shell = shells.find(shellId);
        if (shell) await shells.stop(shell);
        return { type: 'success', text: `<command with id: ${shellId} stopped>` };
      },
    }),
  });
}
