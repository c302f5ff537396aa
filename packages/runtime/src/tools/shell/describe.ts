import type { ShellRegistry } from './registry.js';
import type { Shell } from './shell.js';

/** The session's shells in words, for the model. */
export function describeShells(shells: ShellRegistry): string {
  const lines = shells.list().map(describe);
  return lines.length === 0 ? '<no active shell sessions>' : `Active shell sessions:\n${lines.join('\n')}`;
}

function describe(shell: Shell): string {
  shell.refresh();
  const { shellId, pid, start, exitCode } = shell;
  const status = shell.isRunning ? 'running' : `completed (exit code: ${exitCode})`;
  const elapsed = Math.floor((performance.now() - shell.startedAt) / 1000);
  const unread = shell.hasUnread ? 'yes' : 'no';
  return `  shellId: ${shellId}, pid: ${pid}, mode: ${start.mode}, status: ${status}, elapsed: ${elapsed}s, commands: 1, unread output: ${unread}\n    current command: ${start.command}`;
}
