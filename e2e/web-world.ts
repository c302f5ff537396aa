import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { type Channel, webSocketChannel } from '@groundcrew/rpc';
import { Client, type ClientOptions, RuntimeConnection } from '@groundcrew/sdk';
import {
  LiveRuntime,
  providerOf,
  RuntimeProcess,
  type ScriptedModel,
  type ScriptedReply,
} from '@groundcrew/testkit';
import { WebSocket } from 'ws';
import { until } from './mcp-world.js';

/** What the servers of these tests ask for. */
export const token = 'a-token-of-the-tests';

/** A server with a door over HTTP, and a scripted model behind it. */
export class WebWorld {
  // Only its home, its model and its processes are used.
  private readonly world = new LiveRuntime({ flags: ['--stdio'] });
  private server: RuntimeProcess | undefined;
  private scripted: ScriptedModel | undefined;
  url = '';

  constructor(
    private readonly replies: readonly ScriptedReply[],
    private readonly flags: readonly string[] = ['serve', '--http-port', '0'],
    /** What `config.json` says. No title is asked for: it would take a reply of the script. */
    private readonly config: object = {},
    /** What leads the server to its model service, where it is no provider of a user's own. */
    private readonly service?: (baseUrl: string) => Readonly<Record<string, string>>,
  ) {}

  async start(): Promise<void> {
    await this.world.start();
    const config = JSON.stringify({ titles: 'prompt', ...this.config });
    writeFileSync(join(this.world.home.path, 'config.json'), config, { mode: 0o600 });
    await this.startServer();
  }

  /** Again on the same port, as after a crash. */
  async startServer(): Promise<void> {
    this.scripted = this.world.script(...this.replies);
    const { provider } = providerOf(this.scripted);
    const port = this.url === '' ? '0' : new URL(this.url).port;
    const flags = this.flags.map((flag, index) => (this.flags[index - 1] === '--http-port' ? port : flag));
    const server = new RuntimeProcess({
      flags,
      home: this.world.home.path,
      workingDirectory: this.world.workingDirectory,
      environment: {
        GROUNDCREW_TOKEN: token,
        ...(this.service?.(provider.baseUrl) ?? {
          OPENAI_BASE_URL: provider.baseUrl,
          OPENAI_API_KEY: provider.apiKey,
          GROUNDCREW_MODEL: 'scripted',
        }),
      },
    });
    this.server = server;
    await until(() => /HTTP door at \S+\n/.test(server.stdout));
    this.url = /HTTP door at (\S+)/.exec(server.stdout)?.[1] ?? '';
  }

  /** The model behind the server: what it was asked, and what it says next. */
  get model(): ScriptedModel {
    if (!this.scripted) throw new Error('The server was not started');
    return this.scripted;
  }

  get process(): RuntimeProcess {
    if (!this.server) throw new Error('The server was not started');
    return this.server;
  }

  /** Another process of the program, in the same home; its starter ends it. */
  another(flags: readonly string[]): RuntimeProcess {
    const { workingDirectory, home } = this.world;
    return new RuntimeProcess({ flags, home: home.path, workingDirectory });
  }

  async stop(): Promise<void> {
    await this.server?.stop();
    await this.world.stop();
  }

  /** A channel over a WebSocket, by the headers and subprotocols that are given. */
  async channel(options: SocketOptions = {}): Promise<Channel> {
    const socket = this.socket(options);
    await once(socket, 'open');
    return webSocketChannel({ socket });
  }

  socket({ protocols = ['groundcrew', tokenProtocol(token)], headers = {} }: SocketOptions = {}): WebSocket {
    return new WebSocket(`${this.url.replace('http', 'ws')}/rpc`, [...protocols], {
      headers: { ...headers },
    });
  }

  /** What the server answers to one that asks for a WebSocket. */
  async refusal(options: SocketOptions): Promise<number | 'accepted'> {
    const socket = this.socket(options);
    const outcome = new Promise<number | 'accepted'>((resolve, reject) => {
      socket.on('open', () => resolve('accepted'));
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
      socket.on('error', reject);
    });
    return outcome.finally(() => socket.terminate());
  }

  client(options: Omit<ClientOptions, 'connection'> = {}): Client {
    return new Client({ ...options, connection: RuntimeConnection.forChannel(() => this.channel()) });
  }

  /** A plain request, with headers that `fetch` would not send. */
  ask(path: string, { method = 'GET', headers = {} }: AskOptions = {}): Promise<Asked> {
    return new Promise((resolve, reject) => {
      const asked = request(`${this.url}${path}`, { method, headers: { ...headers } }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        );
      });
      asked.on('error', reject);
      asked.end();
    });
  }
}

interface SocketOptions {
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Asked {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** How a page shows the token. */
export function tokenProtocol(shown: string): string {
  return `groundcrew.token.${Buffer.from(shown).toString('base64url')}`;
}

/** The header by which programs show the token. */
export const bearer = { authorization: `Bearer ${token}` };
