import type { TerminalHandle } from '@agentclientprotocol/sdk';
import type { ToolInvocation, ToolResultObject } from '@groundcrew/sdk';
import { type EditorToolParts, failed, succeeded } from './tool-result.js';

/** What is kept of the output of a command. */
const mostBytes = 1024 * 1024;

/** How long a command may run; what is to run longer is started with mode async, which the runtime does itself. */
const longestSeconds = 600;

const stoppedLate = `it was stopped after ${longestSeconds} seconds`;

/** Milliseconds in which an editor says how a command that was stopped has ended. */
const lastWordsMs = 10_000;

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
    const end = await Promise.race([endOf(terminal), soonAfter(ending.signal)]);
    if (end === undefined) return failed(`The editor never said how it ended; ${stoppedLate}`);
    return succeeded(`${end}${ending.signal.aborted ? `; ${stoppedLate}` : ''}>`);
  } catch (error) {
    return failed(`The editor could not run it: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    clearTimeout(timer);
    stopped.removeEventListener('abort', stop);
    // Nothing waits for it: an editor that is gone has no terminal, and one that does not answer ends no call.
    terminal.release().catch(() => undefined);
  }
}

/** What it has written, and how it ended. */
async function endOf(terminal: TerminalHandle): Promise<string> {
  const { exitCode, signal: by } = await terminal.waitForExit();
  const { output, truncated } = await terminal.currentOutput();
  const cut = truncated ? '<the beginning of the output was left out>\n' : '';
  const end = by ? `ended by ${by}` : `exited with exit code ${exitCode ?? -1}`;
  return `${cut}${output.replace(/\n$/, '')}\n<${end}`;
}

/** Resolves when a command that was stopped should long have ended. */
function soonAfter(stopped: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    stopped.addEventListener('abort', () => setTimeout(() => resolve(undefined), lastWordsMs).unref(), {
      once: true,
    });
  });
}
