import type { Environment } from './environment.js';
import type { ShellRegistry } from './registry.js';
import type { ShellHost } from './shell-host.js';

/** The shells of a process. Nothing is loaded or started before the first command. */
export class Shells {
  private host: Promise<ShellHost> | undefined;

  constructor(private readonly environment: Environment) {}

  forSession(): SessionShells {
    return new SessionShells(async () => {
      const { ShellRegistry } = await import('./registry.js');
      return new ShellRegistry(await this.open());
    });
  }

  /** Ends all that runs, but for what was detached. */
  async close(): Promise<void> {
    const { host } = this;
    this.host = undefined;
    await (await host)?.close();
  }

  private open(): Promise<ShellHost> {
    this.host ??= import('./shell-host.js').then(({ ShellHost }) => new ShellHost(this.environment));
    return this.host;
  }
}

/** The shells of one session. */
export class SessionShells {
  private registry: Promise<ShellRegistry> | undefined;
  private closing: Promise<void> = Promise.resolve();

  constructor(private readonly make: () => Promise<ShellRegistry>) {}

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
