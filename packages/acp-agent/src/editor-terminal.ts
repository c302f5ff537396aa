import type { ToolInvocation, ToolResultObject } from '@groundcrew/sdk';
import { type EditorToolParts, failed, succeeded } from './tool-result.js';

/** What is kept of the output of a command. */
const mostBytes = 1024 * 1024;

/** How long a command may run; what is to run longer is started with mode async, which the runtime does itself. */
const longestSeconds = 600;

/** Runs a command in a terminal of the editor, where its user sees it and can stop it. */
export async function runInTerminal(
  { editor, workingDirectory, showTerminal }: EditorToolParts,
  given: Readonly<Record<string, unknown>>,
  { sessionId, toolCallId }: ToolInvocation,
  signal: AbortSignal,
): Promise<ToolResultObject> {
  const terminal = await editor.createTerminal({
    sessionId,
    command: 'bash',
    args: ['-c', String(given.command ?? '')],
    cwd: workingDirectory,
    outputByteLimit: mostBytes,
  });
  showTerminal(toolCallId, terminal.id);
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), longestSeconds * 1000);
  const stopped = AbortSignal.any([signal, ending.signal]);
  const stop = () => void terminal.kill().catch(() => undefined); // it may have ended meanwhile
  stopped.addEventListener('abort', stop, { once: true });
  // The turn may have been stopped while the editor was making the terminal.
  if (stopped.aborted) stop();
  try {
    const { exitCode, signal: by } = await terminal.waitForExit();
    const { output, truncated } = await terminal.currentOutput();
    const cut = truncated ? '<the beginning of the output was left out>\n' : '';
    const end = by ? `ended by ${by}` : `exited with exit code ${exitCode ?? -1}`;
    const late = ending.signal.aborted ? `; it was stopped after ${longestSeconds} seconds` : '';
    return succeeded(`${cut}${output.replace(/\n$/, '')}\n<${end}${late}>`);
  } catch (error) {
    return failed(`The editor could not run it: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    clearTimeout(timer);
    stopped.removeEventListener('abort', stop);
    // Nothing waits for it: an editor that is gone has no terminal, and one that does not answer ends no call.
    terminal.release().catch(() => undefined);
  }
}
