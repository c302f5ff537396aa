import { runCommandLine } from './commands/command-line.js';
import { endWith } from './failure.js';
import { tenantFlag } from './tenants/tenant-flag.js';
import { flushed, processTerminal } from './terminal/process-terminal.js';
import { exitCodes } from './terminal/terminal.js';

declare const __VERSION__: string;

/** What it was used for; the code of that is kept for the next start. */
export const used = new Set<string>();

// What users start.
main(process.argv.slice(2)).catch(endWith);

async function main(argv: readonly string[]): Promise<void> {
  if (argv[0] === tenantFlag) {
    const { runTenant } = await import('./tenants/tenant-runtime.js');
    return runTenant(__VERSION__);
  }
  const terminal = processTerminal(__VERSION__);
  const code = await runCommandLine(argv, terminal, used);
  await flushed();
  process.exit(code === exitCodes.done && !terminal.isRead() ? exitCodes.SIGPIPE : code);
}
