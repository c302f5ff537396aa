import { setTimeout as pause } from 'node:timers/promises';
import type { Program } from '../compose.js';
import type { Log } from '../log/log.js';

/** Ends the program once, however many reasons there are. */
export class Shutdown {
  program: Program | undefined;
  door: { close(): Promise<void> } | undefined;
  tenants: { drain(milliseconds: number): Promise<void>; close(): Promise<void> } | undefined;
  /** How a node leaves: so long it waits for turns and clients, and no more of them come. */
  drain: { readonly seconds: number; refuse(): void } | undefined;
  private shutdown: Promise<void> | undefined;
  private isDraining = false;

  constructor(
    private readonly exit: () => void,
    private readonly log: Log | undefined,
  ) {}

  /** Values that no later entry of the log shows. */
  cover(values: readonly string[]): void {
    this.log?.cover(values);
  }

  /** A signal has come. One of several nodes leaves its sessions to the others first; a second signal does not wait. */
  async stop(): Promise<void> {
    const { program, drain } = this;
    if (program?.isNode && drain && !this.isDraining) {
      this.isDraining = true;
      await this.leave(program, drain);
    }
    await this.end();
  }

  private async leave(program: Program, { seconds, refuse }: NonNullable<Shutdown['drain']>): Promise<void> {
    const limit = AbortSignal.timeout(seconds * 1_000);
    this.log?.write('info', 'draining');
    refuse();
    program.server.announceDrain();
    await Promise.all([program.drain(limit), this.tenants?.drain(seconds * 1_000)]);
    // Clients that do not move on by themselves are forwarded as long as there is time.
    while (program.server.clientCount > 0 && !limit.aborted)
      await pause(50, undefined, { signal: limit }).catch(() => undefined);
  }

  end(): Promise<void> {
    this.shutdown ??= (async () => {
      await this.door?.close();
      await this.tenants?.close();
      await this.program?.close();
      this.log?.write('info', 'ended');
      this.exit();
    })();
    return this.shutdown;
  }
}
