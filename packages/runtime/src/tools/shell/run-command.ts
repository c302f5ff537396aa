import { CannotConfine } from '../../exec/sandbox-confinement.js';
import { SandboxUnavailable } from '../../exec/sandbox-settings.js';
import { type ToolContext, ToolFailure, type ToolResult } from '../tool.js';
import { endsWithin } from './ends-within.js';
import { ShellIdInUse, type ShellRegistry } from './registry.js';
import type { Shell } from './shell.js';

/** A command that the model wants to run. */
export interface CommandRequest {
  readonly command: string;
  /** What it is for, in the model's words. */
  readonly description: string;
  readonly shellId?: string;
  /** It runs unasked because it only reads. */
  readonly isHardened?: boolean;
}

/** Runs a command to its end, or for so many seconds; after that it goes on in the background. */
export async function runCommand(
  request: CommandRequest & { readonly seconds: number },
  context: ToolContext,
  signal: AbortSignal,
): Promise<ToolResult> {
  signal.throwIfAborted();
  const shells = await context.shells.open();
  const shell = await startShell(request, { mode: 'sync', isDetached: false }, { shells, context });
  const stopProgress = startProgress(shell, context);
  try {
    const outcome = await endsWithin(shell.ended, request.seconds * 1000, signal);
    if (outcome === 'done') return finished(shell, context);
  } catch (error) {
    await shells.stop(shell);
    throw error;
  } finally {
    stopProgress();
  }
  keep(shell, request, { shells, context });
  return {
    type: 'success',
    ...unreadOutput(shell),
    suffix: `\n<command with shellId: ${shell.shellId} is still running after ${request.seconds} seconds and goes on in the background. Use read_bash to read more of its output, stop_bash to stop it.>`,
    ...(shell.isConfined && { isConfined: true }),
  };
}

/** Starts a command that no caller waits for. */
export async function startInBackground(
  request: CommandRequest & { readonly isDetached: boolean },
  context: ToolContext,
): Promise<ToolResult> {
  const { isDetached } = request;
  const shells = await context.shells.open();
  const shell = await startShell(request, { mode: 'async', isDetached }, { shells, context });
  keep(shell, request, { shells, context });
  const where = shell.start.isDetached ? 'detached background' : 'background';
  const end = isDetached && shell.isConfined ? '; it runs in a sandbox and ends with the session' : '';
  return {
    type: 'success',
    text: `<command started in ${where} with shellId: ${shell.shellId}${end}>`,
    ...(shell.isConfined && { isConfined: true }),
  };
}

/** From now on the model may read and stop it; when it has ended, and no call has seen that, the model gets a notice. */
function keep(
  shell: Shell,
  { description }: CommandRequest,
  { shells, context }: { readonly shells: ShellRegistry; readonly context: ToolContext },
): void {
  const { shellId, start } = shell;
  shells.keep(shell);
  void shell.ended.then(() => {
    if (shells.find(shellId) !== shell || shell.isAwaited) return;
    const { exitCode = -1 } = shell;
    context.notify({
      type: 'system.notification',
      data: {
        content: `<system_notification>\nThe command "${description}" (shellId: ${shellId}) has ended with exit code ${exitCode}. Use read_bash to read its output.\n</system_notification>`,
        kind: start.isDetached
          ? { type: 'shell_detached_completed', shellId, description }
          : { type: 'shell_completed', shellId, exitCode, description },
      },
    });
  });
}

/** What the model has not seen of a command's output; it counts as seen from now on. */
export function unreadOutput(shell: Shell): Pick<ToolResult, 'text' | 'saved'> {
  shell.refresh();
  const { output, shown } = shell;
  const end = shell.isRunning ? output.lastWhole : output.size;
  shell.shown = end;
  const unread = output.text(shown, end);
  const text = (unread ?? '').replace(/\r?\n$/, '');
  if (output.path === undefined) return { text };
  const file = { path: output.path, bytes: output.size, preview: output.beginning() };
  return { text, saved: { ...file, isPartial: unread === undefined } };
}

async function startShell(
  { command, description, shellId, isHardened = false }: CommandRequest,
  how: { readonly mode: 'sync' | 'async'; readonly isDetached: boolean },
  where: { readonly shells: ShellRegistry; readonly context: ToolContext },
): Promise<Shell> {
  const { shells, context } = where;
  const { workingDirectory, largeOutput } = context;
  const shell = await startConfined(shells, context, {
    ...how,
    command,
    description,
    isHardened,
    workingDirectory,
    largeOutput,
    ...(shellId !== undefined && { shellId }),
  });
  if (shell.pid !== undefined) return shell;
  await shell.ended;
  throw new ToolFailure(`The command could not be started: ${shell.failure?.message}`);
}

/** Where the session's sandbox, if it has one, is made; what cannot be had is an answer for the model. */
async function startConfined(
  shells: ShellRegistry,
  context: ToolContext,
  request: Omit<Parameters<ShellRegistry['start']>[0], 'confinement'>,
): Promise<Shell> {
  try {
    return await shells.start({ ...request, confinement: await context.confinement?.() });
  } catch (error) {
    const isExpected =
      error instanceof ShellIdInUse || error instanceof SandboxUnavailable || error instanceof CannotConfine;
    throw isExpected ? new ToolFailure(error.message) : error;
  }
}

function finished(shell: Shell, { workingDirectory }: ToolContext): ToolResult {
  if (shell.failure) throw new ToolFailure(shell.failure.message);
  const { shellId, exitCode = -1 } = shell;
  const preview = shell.output.beginning().slice(0, previewCharacters);
  return {
    type: 'success',
    ...unreadOutput(shell),
    suffix: `\n<exited with exit code ${exitCode}>`,
    ...(shell.isConfined && { isConfined: true }),
    contents: [
      {
        type: 'shell_exit',
        shellId,
        exitCode,
        cwd: workingDirectory,
        ...(preview !== '' && { outputPreview: preview }),
      },
    ],
  };
}

const previewCharacters = 500;

/** Users see the output while it comes: all of it at first, the latest of it when it is much. */
export function startProgress(shell: Shell, { progress }: { progress(output: string): void }): () => void {
  let timer: NodeJS.Timeout | undefined;
  const publish = () => {
    timer = undefined;
    progress(shell.output.latest(progressBytes));
  };
  const undo = shell.onOutput(() => {
    timer ??= setTimeout(publish, progressMilliseconds);
  });
  return () => {
    clearTimeout(timer);
    undo();
  };
}

const progressBytes = 20 * 1024;
const progressMilliseconds = 100;
