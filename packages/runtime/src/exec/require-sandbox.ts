import type { SandboxHost } from './sandbox-host.js';
import { outlookOf, requiresSandbox, type SandboxSettings, SandboxUnavailable } from './sandbox-settings.js';

/** Throws SandboxUnavailable when a sandbox is asked for that this machine does not have. */
export async function requireSandbox(settings: SandboxSettings, sandbox: SandboxHost): Promise<void> {
  if (!requiresSandbox(settings)) return;
  const outlook = outlookOf(settings, 'manual', await sandbox.probe());
  if (outlook.type === 'refused') throw new SandboxUnavailable(outlook.reason);
}
