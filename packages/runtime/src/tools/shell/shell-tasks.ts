import type { Shell } from './shell.js';
import type { SessionShells } from './shells.js';

/** What a client reads of a command in the background. */
export interface ShellOutput {
  readonly text: string;
  /** Where the next read goes on. */
  readonly cursor: string;
  readonly exit?: { readonly status: 'completed' | 'failed' | 'cancelled'; readonly exitCode?: number };
}

/** A request about a command in the background that cannot be done. */
class ShellTaskRefused extends Error {
  override readonly name = 'ShellTaskRefused';
}

/** The commands that run in the background of a session, as clients see them. */
export class ShellTasks {
  constructor(private readonly shells: SessionShells) {}

  /** Those that run, and those that ended and no call has read to the end. */
  async list() {
    return (await this.all()).map(shownShell);
  }

  /** The latest output of one; undefined when it is not known. */
  async progress(id: string) {
    const shell = await this.find(id);
    shell?.refresh();
    return (
      shell && {
        type: 'shell' as const,
        recentActivity: [],
        recentOutput: shell.output.latest(mostRecent),
      }
    );
  }

  /** Ends one; undefined when it is not known, false when it had ended. */
  async cancel(id: string): Promise<boolean | undefined> {
    const shell = await this.find(id);
    if (!shell?.isRunning) return shell && false;
    await (await this.shells.open()).stop(shell);
    return true;
  }

  /**
   * What one wrote after a cursor; where that is nothing yet, waits for more, for its end, or so many milliseconds. What the model
   * has read of it does not change. Throws ShellTaskRefused.
   */
  async read(
    id: string,
    { cursor, waitMs = 0 }: { readonly cursor?: string | undefined; readonly waitMs?: number | undefined },
    signal: AbortSignal,
  ): Promise<ShellOutput> {
    const start = placeOf(cursor);
    if (!(waitMs >= 0 && waitMs <= longestWait))
      throw new ShellTaskRefused(`'waitMs' is 0 to ${longestWait} milliseconds`);
    const shell = await this.find(id);
    if (!shell) throw new ShellTaskRefused(`No detached shell task with id '${id}'`);
    shell.refresh();
    if (start >= shell.output.size && shell.isRunning && waitMs > 0)
      await news(shell, AbortSignal.any([signal, AbortSignal.timeout(waitMs)]));
    shell.refresh();
    return readFrom(shell, start);
  }

  private async all(): Promise<readonly Shell[]> {
    return this.shells.isOpen ? (await this.shells.open()).list() : [];
  }

  private async find(id: string): Promise<Shell | undefined> {
    return (await this.all()).find(({ shellId }) => shellId === id);
  }
}

const longestWait = 30_000;
const mostBytes = 64 * 1024;
const mostRecent = 4 * 1024;
const form = /^output:(\d{1,15})$/;

function placeOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [, place] = form.exec(cursor) ?? [];
  if (place === undefined) throw new ShellTaskRefused('Invalid cursor: it is one that an earlier read gave');
  return Number(place);
}

/** Resolves when it has written more or has ended, or when the signal aborts. */
async function news(shell: Shell, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const undo = shell.onOutput(() => done());
    const done = () => {
      undo();
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done, { once: true });
    void shell.ended.then(done);
    if (signal.aborted) done();
  });
}

function readFrom(shell: Shell, start: number): ShellOutput {
  const { output } = shell;
  const whole = shell.isRunning ? output.lastWhole : output.size;
  const bytes = start > whole ? undefined : output.bytes(start, Math.min(mostBytes, whole - start));
  if (!bytes)
    throw new ShellTaskRefused(
      'The output no longer reaches to this cursor: read it without one from its beginning',
    );
  const isAll = start + bytes.length >= whole;
  const end = isAll ? bytes.length : lineEnd(bytes);
  const isOver = isAll && !shell.isRunning;
  return {
    text: bytes.subarray(0, end).toString('utf8').replaceAll('\0', '\ufffd'),
    cursor: `output:${start + end}`,
    ...(isOver && { exit: exitOf(shell) }),
  };
}

/** After the last line that is whole; where there is none, after the last character. */
function lineEnd(bytes: Buffer): number {
  const line = bytes.lastIndexOf(10);
  if (line >= 0) return line + 1;
  const lead = bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80);
  return lead > 0 ? lead : bytes.length;
}

function exitOf({ exitCode, wasKilled, failure }: Shell): NonNullable<ShellOutput['exit']> {
  if (failure) return { status: 'failed' };
  return { status: wasKilled ? 'cancelled' : 'completed', ...(exitCode !== undefined && { exitCode }) };
}

function shownShell(shell: Shell) {
  const { shellId: id, pid, start, startedOn, endedOn } = shell;
  const { command, description = command, isDetached } = start;
  return {
    type: 'shell' as const,
    id,
    description,
    status: shell.isRunning ? ('running' as const) : exitOf(shell).status,
    startedAt: startedOn.toISOString(),
    ...(endedOn && { completedAt: endedOn.toISOString() }),
    command,
    attachmentMode: isDetached ? ('detached' as const) : ('attached' as const),
    executionMode: 'background' as const,
    canPromoteToBackground: false,
    ...(pid !== undefined && { pid }),
  };
}
