import { createHmac, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connectTcp } from '@groundcrew/rpc';
import {
  providerOf,
  RuntimeProcess,
  ScriptedApi,
  type ScriptedReply,
  temporaryDirectory,
  WireClient,
} from '@groundcrew/testkit';
import { until } from './mcp-world.js';

/** A message as it came in. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly message: { readonly type: string; readonly timestamp: string; readonly data: ReceivedData };
}

interface ReceivedData {
  readonly sessionId: string;
  readonly tenant?: string;
  readonly seq: number;
  readonly reason: Readonly<Record<string, unknown>>;
}

type Answer = (received: Received, response: ServerResponse) => void;

const accept: Answer = (_received, response) => void response.writeHead(204).end();

/** A real HTTP server that receives webhooks. */
export class Receiver {
  readonly received: Received[] = [];
  /** Called with each message; 204 for all unless set. */
  answer: Answer = accept;
  private server: Server | undefined;
  private port = 0;

  async open(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => {
        const body = Buffer.concat(chunks).toString('utf8');
        const received = {
          path: request.url ?? '',
          headers: request.headers,
          body,
          message: JSON.parse(body) as Received['message'],
        };
        this.received.push(received);
        this.answer(received, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  url(path = '/hook'): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** The messages of one session, as `type reason`. */
  story(sessionId: string): readonly string[] {
    return this.received
      .filter(({ message }) => message.data.sessionId === sessionId)
      .map(({ message }) => `${message.type} ${message.data.reason.kind}`);
  }

  async got(count: number): Promise<void> {
    await until(() => this.received.length >= count);
  }

  /** It can no longer be reached; `open` takes the same port again. */
  async close(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    server?.closeAllConnections();
    if (server) await new Promise((resolve) => server.close(resolve));
  }
}

/** A secret as operators make it. */
export const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

/** What a receiver does with a message, by the text of the Standard Webhooks alone: undefined when it is good. */
export function faultOf(
  { headers, body }: Pick<Received, 'headers' | 'body'>,
  { secret, now = Date.now() / 1000 }: { readonly secret: string; readonly now?: number },
): string | undefined {
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  if (Math.abs(now - Number(timestamp)) > 300) return 'too old';
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected) ? undefined : 'forged';
}

/** A server whose home names receivers of webhooks. */
export class WebhooksWorld {
  readonly home = temporaryDirectory();
  readonly secret = newSecret();
  readonly secretFile = join(this.home.path, 'webhook-secret');
  private api: ScriptedApi | undefined;
  private server: RuntimeProcess | undefined;
  private readonly clients: WireClient[] = [];

  /** Writes the settings of the home. */
  configure(webhooks: readonly Record<string, unknown>[]): void {
    writeFileSync(this.secretFile, `${this.secret}\n`, { mode: 0o600 });
    const entries = webhooks.map((each) => ({ secretFile: this.secretFile, ...each }));
    writeFileSync(
      join(this.home.path, 'config.json'),
      JSON.stringify({ webhooks: entries, titles: 'prompt' }),
      {
        mode: 0o600,
      },
    );
  }

  /** Starts the server; resolves with a client of it. */
  async start(replies: readonly ScriptedReply[] = [], flags: readonly string[] = []): Promise<WireClient> {
    this.api ??= await ScriptedApi.open();
    const { provider } = providerOf(this.api.script(...replies));
    this.server = new RuntimeProcess({
      flags: ['serve', '--port', '0', ...flags],
      home: this.home.path,
      environment: {
        GROUNDCREW_TOKEN: 'the-token',
        OPENAI_BASE_URL: provider.baseUrl,
        OPENAI_API_KEY: provider.apiKey,
        GROUNDCREW_MODEL: 'scripted',
      },
    });
    const client = new WireClient(await connectTcp({ port: await this.server.port() }));
    this.clients.push(client);
    await client.call('connect', { token: 'the-token' });
    return client;
  }

  get process(): RuntimeProcess {
    if (!this.server) throw new Error('The server was not started');
    return this.server;
  }

  /** The outbox's file. */
  get outbox(): string {
    return join(this.home.path, 'webhooks.db');
  }

  async stop(): Promise<void> {
    await Promise.all(this.clients.map(({ connection }) => connection.close()));
    await this.server?.stop();
    await this.api?.close();
    this.home.remove();
  }
}
