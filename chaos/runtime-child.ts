import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Channel, connectTcp, type Message, stdioChannel } from '@groundcrew/rpc';
import { WireClient } from '@groundcrew/testkit';

/** How a runtime under test is started. */
export interface RuntimeChildOptions {
  readonly program: string;
  readonly home: string;
  readonly door: 'stdio' | 'port';
  /** Kills itself at this write step. */
  readonly failpoint?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs the program by the code that an earlier start has kept, as clients start it: to compile it took half of each start. */
const codeCache = fileURLToPath(new URL('../packages/cli/bin/code-cache.js', import.meta.url));
const runCached = `require(${JSON.stringify(codeCache)}).runCached(process.argv[1])`;

/** A runtime that will be killed. */
export class RuntimeChild {
  isGone = false;
  /** Resolves at its end, once all that it had sent is read. */
  readonly gone: Promise<NodeJS.Signals | null>;
  private readonly child: ChildProcess;
  private readonly port: Promise<number>;
  private errors = '';

  constructor(private readonly options: RuntimeChildOptions) {
    const { program, home, door, failpoint, environment } = options;
    const flags = ['--headless', ...(door === 'stdio' ? ['--stdio'] : [])];
    this.child = spawn(process.execPath, ['-e', runCached, program, ...flags], {
      cwd: home,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        COPILOT_HOME: home,
        ...(failpoint !== undefined && { GROUNDCREW_FAILPOINT: String(failpoint) }),
        ...environment,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.errors += chunk.toString();
    });
    this.gone = once(this.child, 'close').then(([, signal]) => {
      this.isGone = true;
      return signal as NodeJS.Signals | null;
    });
    this.port = door === 'port' ? this.announcedPort() : Promise.resolve(0);
    this.port.catch(() => undefined);
  }

  get home(): string {
    return this.options.home;
  }

  /** What it wrote to stderr. */
  get stderr(): string {
    return this.errors;
  }

  /** A client that shows every message to `hear` as it comes. */
  async connect(receive: (message: Message) => void): Promise<WireClient> {
    return new WireClient(tapped(await this.channel(), receive));
  }

  /** kill -9, unless it is dead already. */
  kill(): Promise<NodeJS.Signals | null> {
    this.child.kill('SIGKILL');
    return this.gone;
  }

  /** SIGSTOP or SIGCONT. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.child.kill(name);
  }

  private async channel(): Promise<Channel> {
    const { stdin, stdout } = this.child;
    if (this.options.door === 'port') return connectTcp({ port: await this.port });
    if (!stdin || !stdout) throw new Error('The process was started without pipes');
    return stdioChannel({ input: stdout, output: stdin });
  }

  private announcedPort(): Promise<number> {
    return new Promise((resolve, reject) => {
      let text = '';
      this.child.stdout?.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const port = /listening on port (\d+)/.exec(text)?.[1];
        if (port) resolve(Number(port));
      });
      this.child.once('exit', () =>
        reject(new Error(`The runtime ended before it listened: ${this.errors}`)),
      );
    });
  }
}

function tapped(channel: Channel, receive: (message: Message) => void): Channel {
  const tap = async function* () {
    for await (const message of channel.messages) {
      receive(message);
      yield message;
    }
  };
  return {
    get queuedBytes() {
      return channel.queuedBytes;
    },
    send: (message) => channel.send(message),
    drained: () => channel.drained(),
    close: () => channel.close(),
    messages: tap(),
  };
}
