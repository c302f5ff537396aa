import { newSpillFile } from '../../workspace/spilled-output.js';
import type { LargeOutput } from '../output.js';
import { OutputBuffer } from './output-buffer.js';
import type { Shell } from './shell.js';
import type { ShellHost, ShellStartRequest } from './shell-host.js';

/** Another command runs under the id that was wanted. */
export class ShellIdInUse extends Error {
  override readonly name = 'ShellIdInUse';

  constructor(shellId: string) {
    super(
      `shellId: ${shellId} is in use by a command that is still running. Choose another one, or stop it first.`,
    );
  }
}

/** The shells of one session: those that run in the background, and the memory of those that are gone. */
export class ShellRegistry {
  private readonly shells = new Map<string, Shell>();
  /** Ids of commands that run, listed or not. */
  private readonly busy = new Set<string>();
  private readonly reclaimed = new Set<string>();

  constructor(private readonly host: ShellHost) {}

  /** Starts a command; it is not listed before it is kept. Throws ShellIdInUse. */
  async start(wanted: ShellOrder): Promise<Shell> {
    const { largeOutput, shellId = this.freshId(), ...rest } = wanted;
    if (this.busy.has(shellId)) throw new ShellIdInUse(shellId);
    const memory = Math.min(Math.max(largeOutput.maxBytes, leastMemory), mostMemory);
    const output = new OutputBuffer(() => newSpillFile(largeOutput), { memory, file: mostOnDisk });
    this.busy.add(shellId);
    try {
      const shell = await this.host.start({ ...rest, shellId, output }, this);
      void shell.ended.then(() => this.busy.delete(shellId));
      return shell;
    } catch (error) {
      this.busy.delete(shellId);
      throw error;
    }
  }

  /** Lists a shell under its id until it is reclaimed. */
  keep(shell: Shell): void {
    this.shells.set(shell.shellId, shell);
    this.reclaimed.delete(shell.shellId);
  }

  find(shellId: string): Shell | undefined {
    return this.shells.get(shellId);
  }

  list(): readonly Shell[] {
    return [...this.shells.values()];
  }

  /** Its output has been read to the end. */
  reclaim(shell: Shell): void {
    if (this.shells.get(shell.shellId) !== shell) return;
    this.shells.delete(shell.shellId);
    this.reclaimed.add(shell.shellId);
  }

  wasReclaimed(shellId: string): boolean {
    return this.reclaimed.has(shellId);
  }

  async stop(shell: Shell): Promise<void> {
    this.reclaim(shell);
    await this.host.stop(shell, this);
  }

  /** Sends a signal to a command and all that it has started; false when no process is there. */
  signal(shell: Shell, signal: NodeJS.Signals): boolean {
    return shell.pid !== undefined && this.host.sessions.signal(shell.pid, signal);
  }

  /** Ends all that the session has started, but for what it detached. */
  async close(): Promise<void> {
    const kept = this.list();
    this.shells.clear();
    await this.host.endAllOf(this);
    for (const shell of kept) shell.close();
  }

  /** The next number that is no name yet. */
  private freshId(): string {
    const id = this.host.nextId();
    return this.busy.has(id) || this.shells.has(id) ? this.freshId() : id;
  }
}

/** What a session wants to run. */
interface ShellOrder extends Omit<ShellStartRequest, 'output' | 'shellId'> {
  readonly shellId?: string;
  readonly largeOutput: LargeOutput;
}

const leastMemory = 256 * 1024;
const mostMemory = 8 * 1024 * 1024;
const mostOnDisk = 64 * 1024 * 1024;
