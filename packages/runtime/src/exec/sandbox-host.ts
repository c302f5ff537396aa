import type { BoxSeal } from './box-seal.js';
import type { Stream } from './descriptors.js';
import type { Executor } from './executor.js';
import { pathlessSockets } from './pathless-sockets.js';
import { CannotConfine } from './sandbox-confinement.js';
import type { ConfinedLaunch } from './sandbox-executor.js';
import type { Probe } from './sandbox-probe.js';

/** The sandbox of this machine: whether there is one, and the way into it. Nothing is loaded before it is needed. */
export class SandboxHost {
  private probing: Promise<Probe> | undefined;

  constructor(private readonly environment: Readonly<Record<string, string | undefined>>) {}

  /** Whether it works. What works is remembered; what does not may have been installed since. */
  probe(): Promise<Probe> {
    this.probing ??= this.probeAnew();
    return this.probing;
  }

  /** What a box of bubblewrap that another program makes is sealed with, which has these streams. */
  static async seal(
    streams: readonly Stream[],
    options: { readonly filtersCalls: boolean },
  ): Promise<BoxSeal> {
    const { sealBox } = await import('./box-seal.js');
    return sealBox(streams, options);
  }

  /** What children with the network on can reach of other programs, though no path leads there. */
  reachableSockets(): readonly string[] {
    return pathlessSockets();
  }

  /** An executor for one child. Throws CannotConfine. */
  async executorFor(launch: ConfinedLaunch): Promise<Executor> {
    const probe = await this.probe();
    if (probe.type === 'missing') throw new CannotConfine(probe.reason);
    const { kind } = probe.sandbox;
    if (kind !== launch.confinement.kind)
      throw new CannotConfine(`The sandbox of this system is ${kind}, not ${launch.confinement.kind}`);
    const { sandboxExecutor } = await import('./sandbox-executor.js');
    return sandboxExecutor(launch, probe.sandbox, this.environment);
  }

  private async probeAnew(): Promise<Probe> {
    const { probeSandbox } = await import('./sandbox-probe.js');
    const probe = await probeSandbox(this.environment);
    if (probe.type === 'missing') this.probing = undefined;
    return probe;
  }
}
