import type { MachineSandbox } from './machine-sandbox.js';
import {
  placementOf,
  requiresSandbox,
  type SandboxSettings,
  SandboxUnavailable,
} from './sandbox-settings.js';

/** Throws SandboxUnavailable when a sandbox is asked for that this machine does not have. */
export async function requireSandbox(settings: SandboxSettings, sandbox: MachineSandbox): Promise<void> {
  if (!requiresSandbox(settings)) return;
  const placement = placementOf(settings, 'manual', await sandbox.probe());
  if (placement.type === 'refused') throw new SandboxUnavailable(placement.reason);
}
