import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventLoopTurn } from '../../event-loop-turn.js';
import type { Executor, Launch } from '../../exec/executor.js';
import { hostExecutor } from '../../exec/host.js';
import type { MachineSandbox } from '../../exec/machine-sandbox.js';
import type { Confinement } from '../../exec/sandbox-confinement.js';
import { PrivateTemp } from '../../exec/sandbox-temp.js';
import { commandEnvironment, type Environment, expandedValues } from './environment.js';
import { findProgram, flavourOf } from './flavour.js';
import { Guardian } from './guardian.js';
import { hardenedEnvironment } from './hardened-environment.js';
import { fileCapture, type OutputCapture, pipeCapture } from './output-capture.js';
import { PipePool } from './pipes.js';
import { ProcessSessions } from './process-sessions.js';
import { markVariable } from './processes.js';
import type { StartedProgram, WantedProgram } from './program.js';
import { Shell, type ShellStart } from './shell.js';

/** What is to run. */
export type ShellStartRequest = Pick<
  ShellStart,
  'shellId' | 'command' | 'description' | 'mode' | 'isDetached' | 'workingDirectory' | 'output'
> & {
  /** What it may touch; without it, it runs as the user. */
  readonly confinement?: Confinement | undefined;
  /** It runs unasked because it only reads: nothing that its place can configure takes part. */
  readonly isHardened?: boolean;
};

/** On whose behalf commands run: the shells of one session. */
interface Owner {
  readonly mark: string;
  readonly temp: PrivateTemp;
  /** Where its temporary files are, once there are any. */
  directory?: string;
}

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
  private readonly owners = new WeakMap<object, Owner>();
  private marked = 0;

  constructor(
    environment: Environment,
    private readonly sandbox: MachineSandbox,
  ) {
    this.environment = commandEnvironment(environment);
    this.guardian.endAfterwards(this.mark);
    this.program = findProgram(this.flavour.programs, environment.PATH ?? '/usr/local/bin:/usr/bin:/bin');
  }

  /** What all that runs on behalf of `owner` is marked with. */
  markOf(owner: object): string {
    return this.ownerOf(owner).mark;
  }

  /** Starts a command on behalf of `owner`, under guard unless it is detached. Throws CannotConfine. */
  async start(request: ShellStartRequest, owner: object): Promise<Shell> {
    const { command } = request;
    const executor = await this.executorFor(request, owner);
    // Nothing leaves a sandbox: what was to outlive the session ends with it there.
    const isDetached = request.isDetached && executor.kind === 'host';
    const capture = await this.newCapture(isDetached);
    await eventLoopTurn();
    if (!isDetached) this.guardian.start();
    const { program } = this;
    const parameters = this.flavour.parameters(command);
    const mark = `${this.markOf(owner)}.${this.marked++}`;
    const own = request.isHardened
      ? hardenedEnvironment(this.environment, request.workingDirectory)
      : this.environment;
    const environment = isDetached ? own : { ...own, [markVariable]: mark };
    const start = { ...request, isDetached, executor, program, parameters, environment, capture, mark };
    const shell = new Shell(start);
    const { pid, isConfined } = shell;
    if (pid === undefined || isDetached) return shell;
    this.sessions.add(pid, owner, { isConfined });
    void shell.ended.then(() => this.sessions.leaderEnded(pid));
    return shell;
  }

  /** Starts a program with pipes on behalf of `owner`, under guard. Throws CannotConfine. */
  async startProgram(request: WantedProgram, owner: object): Promise<StartedProgram> {
    const { program, parameters, workingDirectory } = request;
    const executor = await this.executorFor(request, owner);
    this.guardian.start();
    const mark = `${this.markOf(owner)}.${this.marked++}`;
    const own = request.expandsVariables
      ? expandedValues(request.environment, this.environment)
      : request.environment;
    const environment = { ...this.environment, ...own, [markVariable]: mark };
    const child = executor.start({
      program,
      parameters,
      workingDirectory,
      environment,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const { pid } = child;
    if (pid === undefined) return { child, end: async () => undefined };
    this.sessions.add(pid, owner, { isConfined: executor.kind !== 'host' });
    void child.ended.then(() => this.sessions.leaderEnded(pid));
    return { child, end: async () => void (await this.sessions.end([pid], mark)) };
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
    if (start.isDetached && shell.isRunning) this.sessions.add(pid, owner, { isConfined: false });
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

  /** Ends what runs on behalf of `owner`, but for what it detached, and removes its temporary files. */
  async endAllOf(owner: object): Promise<void> {
    const { mark, directory } = this.ownerOf(owner);
    await this.sessions.endAllOf(owner, mark);
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  }

  private async executorFor(
    request: Pick<ShellStartRequest, 'confinement' | 'workingDirectory'>,
    owner: object,
  ): Promise<Executor> {
    const { confinement, workingDirectory } = request;
    if (!confinement) return hostExecutor;
    const { temp } = this.ownerOf(owner);
    // What there is to show and to hide is looked up anew for each: many at once would keep all others waiting.
    await eventLoopTurn();
    return this.guarded(await this.sandbox.executorFor({ confinement, workingDirectory, temp }));
  }

  /** The kernel ends a sandbox with the runtime, but for one that is just being set up: there the guardian does. */
  private guarded(executor: Executor): Executor {
    const start = (launch: Launch) => {
      let first: number | undefined;
      const onEntry = (pid: number) => {
        first = pid;
        this.guardian.watch(pid, { isConfined: true });
      };
      // Until the guardian is told of its processes, they have nothing but this: what they see has no environment to show.
      const title = `bwrap ${markVariable}=${launch.environment[markVariable] ?? this.mark}`;
      const child = executor.start({ ...launch, title, onEntry });
      void child.ended.then(() => first !== undefined && this.guardian.release(first));
      return child;
    };
    return { kind: executor.kind, start };
  }

  private ownerOf(owner: object): Owner {
    const known = this.owners.get(owner);
    if (known) return known;
    const made: Owner = {
      mark: `${this.mark}.${this.marked++}`,
      temp: new PrivateTemp(() => {
        made.directory ??= this.newDirectory();
        return made.directory;
      }),
    };
    this.owners.set(owner, made);
    return made;
  }

  private newDirectory(): string {
    const path = join(this.directory(), randomUUID());
    mkdirSync(path, { mode: 0o700 });
    return path;
  }

  private async newCapture(isDetached: boolean): Promise<OutputCapture> {
    if (isDetached) return fileCapture(join(this.directory(), `${randomUUID()}.log`));
    return pipeCapture(await this.pipes.take());
  }

  /** A directory of this process alone; another one when it was cleared away. */
  private directory(): string {
    if (this.ownDirectory === undefined || !existsSync(this.ownDirectory)) {
      this.ownDirectory = mkdtempSync(join(tmpdir(), 'groundcrew-'));
      this.guardian.clearAfterwards(this.ownDirectory);
    }
    return this.ownDirectory;
  }
}
