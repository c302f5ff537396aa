import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { byteChannel, type Channel } from '@groundcrew/rpc';
import type { Config } from '../config/config.js';
import type { Log } from '../log/log.js';
import { loggedChannel } from '../log/logged-channel.js';
import type { Terminal } from '../terminal/terminal.js';

/** How the runtime of a screen is started. */
export interface OwnRuntimeOptions {
  readonly config: Config;
  readonly terminal: Pick<Terminal, 'environment' | 'workingDirectory'>;
  /** Where commands run, if the command line says so. */
  readonly executor?: string;
  readonly log: Log;
}

/**
 * A runtime in a process of its own, started again when it is gone: a screen outlives it, and its sessions go on from what
 * is stored.
 */
export class OwnRuntime {
  private child: ChildProcess | undefined;

  constructor(private readonly options: OwnRuntimeOptions) {}

  /** Starts it, and opens the one channel to it. */
  readonly open = (): Channel => {
    const { config, terminal, executor, log } = this.options;
    const args = [
      '--headless',
      '--stdio',
      '--no-auto-update',
      ...(config.logLevel === undefined ? [] : ['--log-level', config.logLevel]),
      ...(executor === undefined ? [] : ['--sandbox', executor]),
      ...(config.fileHooks ? ['--file-hooks'] : []),
    ];
    const child = spawn(process.execPath, [program, ...args], {
      cwd: terminal.workingDirectory,
      env: {
        ...terminal.environment,
        COPILOT_HOME: config.homeDirectory,
        // It may hold a password, which a command line would show.
        ...(config.store !== undefined && { GROUNDCREW_STORE: config.store }),
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    this.child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\n')) if (line.trim() !== '') log.write('warning', line);
    });
    // Its channel ends with it, and says so.
    child.on('error', (error) => log.write('error', `The runtime could not be started: ${error.message}`));
    return loggedChannel(byteChannel({ input: child.stdout, output: child.stdin }), log);
  };

  /** Waits for its end, which comes with that of its channel; helps where it does not. */
  async close(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const help = setTimeout(() => child.kill('SIGKILL'), patience);
    await once(child, 'close');
    clearTimeout(help);
  }
}

const patience = 5_000;

/** The program beside this bundle. */
const program = join(import.meta.dirname, '../bin/groundcrew.js');
