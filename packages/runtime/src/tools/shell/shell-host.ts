import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandEnvironment, type Environment } from './environment.js';
import { findProgram, flavourOf } from './flavour.js';
import { Guardian } from './guardian.js';
import { hardenedEnvironment } from './hardened-environment.js';
import { fileOutlet, type Outlet, pipeOutlet } from './outlets.js';
import { PipePool } from './pipes.js';
import { ProcessSessions } from './process-sessions.js';
import { markVariable } from './processes.js';
import { Shell, type ShellStart } from './shell.js';

/** What is to run. */
export type Wanted = Pick<
  ShellStart,
  'shellId' | 'command' | 'mode' | 'isDetached' | 'workingDirectory' | 'output'
> & {
  /** It runs unasked because it only reads: nothing that its place can configure takes part. */
  readonly isHardened?: boolean;
};

/** What the shells of all sessions share: pipes, the guardian, and the names of those that were given none. */
export class ShellHost {
  readonly guardian = new Guardian();
  readonly sessions = new ProcessSessions(this.guardian);
  private readonly pipes = new PipePool(() => this.directory());
  private readonly flavour = flavourOf(process.platform);
  private readonly environment: Readonly<Record<string, string>>;
  private readonly program: string;
  private ownDirectory: string | undefined;
  private started = 0;
  /** Of all commands of this process, but for detached ones. */
  private readonly mark = randomUUID();
  private readonly owners = new WeakMap<object, string>();
  private marked = 0;

  constructor(environment: Environment) {
    this.environment = commandEnvironment(environment);
    this.guardian.endAfterwards(this.mark);
    this.program = findProgram(this.flavour.programs, environment.PATH ?? '/usr/local/bin:/usr/bin:/bin');
  }

  /** What all that runs on behalf of `owner` is marked with. */
  markOf(owner: object): string {
    const known = this.owners.get(owner);
    if (known !== undefined) return known;
    const mark = `${this.mark}.${this.marked++}`;
    this.owners.set(owner, mark);
    return mark;
  }

  /** Starts a command on behalf of `owner`, under guard unless it is detached. */
  async start(wanted: Wanted, owner: object): Promise<Shell> {
    const { command, isDetached } = wanted;
    const outlet = await this.newOutlet(isDetached);
    if (!isDetached) this.guardian.start();
    const { program } = this;
    const parameters = this.flavour.parameters(command);
    const mark = `${this.markOf(owner)}.${this.marked++}`;
    const own = wanted.isHardened
      ? hardenedEnvironment(this.environment, wanted.workingDirectory)
      : this.environment;
    const environment = isDetached ? own : { ...own, [markVariable]: mark };
    const shell = new Shell({ ...wanted, program, parameters, environment, outlet, mark });
    const { pid } = shell;
    if (pid === undefined || isDetached) return shell;
    this.sessions.add(pid, owner);
    void shell.ended.then(() => this.sessions.leaderEnded(pid));
    return shell;
  }

  /** A number for a command that was given no name. */
  nextId(): string {
    const id = String(this.started);
    this.started += 1;
    return id;
  }

  /** Ends a command with all that it has started. */
  async stop(shell: Shell, owner: object): Promise<void> {
    const { pid, start } = shell;
    if (pid === undefined) return;
    if (start.isDetached && shell.isRunning) this.sessions.add(pid, owner);
    const isGone = await this.sessions.end([pid], start.mark);
    if (isGone) await shell.ended;
    shell.close();
  }

  /** Ends everything but detached commands and leaves nothing behind. */
  async close(): Promise<void> {
    await this.sessions.close(this.mark);
    await this.guardian.close();
    if (this.ownDirectory !== undefined) await rm(this.ownDirectory, { recursive: true, force: true });
    this.ownDirectory = undefined;
  }

  private async newOutlet(isDetached: boolean): Promise<Outlet> {
    if (isDetached) return fileOutlet(join(this.directory(), `${randomUUID()}.log`));
    return pipeOutlet(await this.pipes.take());
  }

  /** A directory of this process alone; another one when somebody has cleared it away. */
  private directory(): string {
    if (this.ownDirectory === undefined || !existsSync(this.ownDirectory)) {
      this.ownDirectory = mkdtempSync(join(tmpdir(), 'groundcrew-'));
      this.guardian.clearAfterwards(this.ownDirectory);
    }
    return this.ownDirectory;
  }
}
