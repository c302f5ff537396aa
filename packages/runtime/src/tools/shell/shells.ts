import { MachineSandbox } from '../../exec/machine-sandbox.js';
import type { SandboxSettings } from '../../exec/sandbox-settings.js';
import type { Environment } from './environment.js';
import type { ProgramHost, StartedProgram, WantedProgram } from './program.js';
import type { ShellRegistry } from './registry.js';
import type { ShellHost } from './shell-host.js';

/** What commands of all sessions of a process go by. */
export interface ShellOptions {
  /** What sessions go by that say nothing of a sandbox. */
  readonly sandbox?: SandboxSettings;
  /** The runtime's own home, which no sandbox shows. */
  readonly homeDirectory?: string;
}

/** The shells of a process. Nothing is loaded or started before the first command. */
export class Shells implements ProgramHost {
  /** The sandbox that commands may run in. */
  readonly sandbox: MachineSandbox;
  private host: Promise<ShellHost> | undefined;

  constructor(
    private readonly environment: Environment,
    readonly options: ShellOptions = {},
  ) {
    this.sandbox = new MachineSandbox(environment);
  }

  forSession(): SessionShells {
    return new SessionShells(async () => {
      const { ShellRegistry } = await import('./registry.js');
      return new ShellRegistry(await this.open());
    }, this);
  }

  async startProgram(wanted: WantedProgram, owner: object): Promise<StartedProgram> {
    return (await this.open()).startProgram(wanted, owner);
  }

  async endProgramsOf(owner: object): Promise<void> {
    await (await this.host)?.endAllOf(owner);
  }

  /** Ends all that runs, but for what was detached. */
  async close(): Promise<void> {
    const { host } = this;
    this.host = undefined;
    await (await host)?.close();
  }

  private open(): Promise<ShellHost> {
    this.host ??= import('./shell-host.js').then(
      ({ ShellHost }) => new ShellHost(this.environment, this.sandbox),
    );
    return this.host;
  }
}

/** The shells of one session. */
export class SessionShells {
  private registry: Promise<ShellRegistry> | undefined;
  private closing: Promise<void> = Promise.resolve();

  constructor(
    private readonly make: () => Promise<ShellRegistry>,
    /** The sandbox they may run in, and what all sessions go by. */
    readonly machine: Pick<Shells, 'sandbox' | 'options'> & ProgramHost,
  ) {}

  /** Some command has been run since the last close. */
  get isOpen(): boolean {
    return this.registry !== undefined;
  }

  open(): Promise<ShellRegistry> {
    this.registry ??= this.make();
    return this.registry;
  }

  /** Ends all that the session has started, but for what it detached; the next command opens it again. */
  close(): Promise<void> {
    const { registry } = this;
    this.registry = undefined;
    if (registry)
      this.closing = Promise.all([registry.then((each) => each.close()), this.closing]).then(() => undefined);
    return this.closing;
  }
}
