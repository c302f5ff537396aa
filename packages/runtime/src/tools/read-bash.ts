import { defineTool } from './define-tool.js';
import { type Input, number, text } from './fields.js';
import { describeShells } from './shell/describe.js';
import { endsWithin } from './shell/ends-within.js';
import { unreadOutput } from './shell/run-command.js';
import { type Tool, type ToolContext, ToolFailure, type ToolResult } from './tool.js';

const fields = {
  shellId: text('The id of the command, as bash gave it.'),
  delay: number('Seconds to wait for the command to end before its output is read.'),
};

/** Reads what a command in the background has written since it was read last. */
export function readBashTool(): Tool {
  return defineTool({
    name: 'read_bash',
    description:
      'Reads the output that a command in the background has written since you last read it. Waits for it to end first, at most for the delay.',
    changesNothing: true,
    fields,
    isFree: true,
    prepare: (wanted, context) => ({ type: 'run', run: (signal) => read(wanted, context, signal) }),
  });
}

async function read(
  { shellId, delay }: Input<typeof fields>,
  context: ToolContext,
  signal: AbortSignal,
): Promise<ToolResult> {
  const shells = await context.shells.open();
  const shell = shells.find(shellId);
  if (!shell) {
    const why = shells.wasReclaimed(shellId)
      ? 'was reclaimed and is no longer available.'
      : 'not found or was never created. Please supply a valid shell ID.';
    throw new ToolFailure(`shellId: ${shellId} ${why}\n\n${describeShells(shells)}`);
  }
  const seconds = Math.min(Math.max(delay, 0), longestDelay);
  shell.isAwaited = true;
  await endsWithin(shell.ended, seconds * 1000, signal).finally(() => {
    shell.isAwaited = false;
  });
  const output = unreadOutput(shell);
  if (shell.isRunning)
    return { type: 'success', ...output, suffix: `\n<shellId: ${shellId} is still running>` };
  shells.reclaim(shell);
  return {
    type: 'success',
    ...output,
    suffix: `\n<shellId: ${shellId} completed with exit code ${shell.exitCode}>`,
  };
}

const longestDelay = 600;
