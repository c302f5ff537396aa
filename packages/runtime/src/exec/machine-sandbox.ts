import { abstractSockets } from './abstract-sockets.js';
import type { BoxHardening } from './box-hardening.js';
import type { Stream } from './descriptors.js';
import type { Executor } from './executor.js';
import { CannotConfine } from './sandbox-confinement.js';
import type { ConfinedLaunch } from './sandbox-executor.js';
import type { Probe } from './sandbox-probe.js';
import {
  placementOf,
  requiresSandbox,
  type SandboxSettings,
  SandboxUnavailable,
} from './sandbox-settings.js';

/** The sandbox of this machine: tells whether it works, and makes executors in it. Nothing is loaded before it is needed. */
export class MachineSandbox {
  private probing: Promise<Probe> | undefined;

  constructor(private readonly environment: Readonly<Record<string, string | undefined>>) {}

  /** Tries the sandbox. A success is remembered; after a failure the next call tries again, since it may have been installed. */
  probe(): Promise<Probe> {
    this.probing ??= this.probeAnew();
    return this.probing;
  }

  /** What hardens a box of bubblewrap that another program starts with these streams. */
  static async hardenBox(
    streams: readonly Stream[],
    options: { readonly filtersCalls: boolean },
  ): Promise<BoxHardening> {
    const { hardenBox } = await import('./box-hardening.js');
    return hardenBox(streams, options);
  }

  /** Abstract sockets, which children can reach while their network is on. */
  reachableSockets(): readonly string[] {
    return abstractSockets();
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

/** Throws SandboxUnavailable when a sandbox is asked for that this machine does not have. */
export async function requireSandbox(settings: SandboxSettings, sandbox: MachineSandbox): Promise<void> {
  if (!requiresSandbox(settings)) return;
  const placement = placementOf(settings, 'manual', await sandbox.probe());
  if (placement.type === 'refused') throw new SandboxUnavailable(placement.reason);
}
