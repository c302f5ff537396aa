import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ScriptedAnswer, ScriptedCall } from './completion.js';
import { scriptedWireFor } from './scripted-wires.js';
import type { CompletionMessage } from './strict-history.js';

export type { ScriptedCall } from './completion.js';
export type { CompletionMessage } from './strict-history.js';

/** What a scripted model does with one call. */
export type ScriptedReply =
  | ScriptedAnswer
  | {
      readonly type: 'status';
      readonly status: number;
      readonly body: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly type: 'hold'; readonly released: Promise<void>; readonly then: ScriptedReply }
  /** Says these chunks, then breaks the connection. */
  | { readonly type: 'hangUp'; readonly chunks: readonly string[] };

/** One call as it reached the model. */
export interface AskedModel {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly model: string;
    readonly messages: readonly CompletionMessage[];
    readonly stream?: boolean;
    readonly tools?: readonly {
      readonly function: { readonly name: string; readonly parameters: unknown };
    }[];
    readonly [field: string]: unknown;
  };
}

/** A model of its own address that plays a script and keeps what it was asked. */
export interface ScriptedModel {
  readonly baseUrl: string;
  readonly requests: readonly AskedModel[];
  /** Histories that a strict service would have refused; each one was. */
  readonly refusals: readonly string[];
  /** How often its models were asked for. */
  readonly listings: number;
  /** Refuses calls whose conversation is longer than so many characters of JSON, as services do; they play nothing. */
  limit(characters: number): void;
  /** Adds to the script. */
  play(...replies: readonly ScriptedReply[]): void;
  /** Resolves when the model has been asked so many times. */
  asked(times: number): Promise<AskedModel>;
}

/** An answer of one text. */
export function say(text: string): ScriptedReply {
  return { type: 'answer', chunks: [text], calls: [] };
}

/** An answer that is streamed in exactly these pieces. */
export function streamChunks(...chunks: readonly string[]): ScriptedReply {
  return { type: 'answer', chunks, calls: [] };
}

/** An answer that asks for tools. */
export function callTools(...calls: readonly ScriptedCall[]): ScriptedReply {
  return { type: 'answer', chunks: [], calls };
}

/** Any answer: reasoning, text and calls together. */
export function answer(parts: Partial<Omit<ScriptedAnswer, 'type'>>): ScriptedReply {
  return { type: 'answer', chunks: [], calls: [], ...parts };
}

/** An HTTP status with a reason. */
export function refuse(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ScriptedReply {
  return { type: 'status', status, body: JSON.stringify({ error: { message } }), headers };
}

/** Breaks the connection after some chunks. */
export function hangUp(...chunks: readonly string[]): ScriptedReply {
  return { type: 'hangUp', chunks };
}

/** A reply that waits. */
export interface Held {
  readonly reply: ScriptedReply;
  release(): void;
}

/** Keeps the caller waiting until it is released. */
export function hold(then: ScriptedReply = say('released')): Held {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { reply: { type: 'hold', released, then }, release };
}

/** A real HTTP server that speaks every model API, by the path it is called at; each script has an address of its own. */
export class ScriptedApi {
  private readonly scripts = new Map<string, Script>();

  private constructor(private readonly server: Server) {}

  static async open(): Promise<ScriptedApi> {
    const server = createServer();
    const api = new ScriptedApi(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { url = '', headers } = request;
        void api.serve({ url, headers, text: Buffer.concat(chunks).toString() }, response);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return api;
  }

  /** A model that plays these replies, one for each call. */
  script(...replies: readonly ScriptedReply[]): ScriptedModel {
    const { port } = this.server.address() as AddressInfo; // a server on a port has no other kind of address
    const name = `m${this.scripts.size + 1}`;
    const script = new Script(`http://127.0.0.1:${port}/${name}`, [...replies]);
    this.scripts.set(name, script);
    return script;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(request: Incoming, response: ServerResponse): Promise<void> {
    const [, name = '', ...rest] = request.url.split('/');
    const script = this.scripts.get(name);
    if (!script) return sendStatus(response, refuse(404, `There is no script ${name}`));
    const path = `/${rest.join('/')}`;
    if (/\/models(?:\?|$)/.test(path)) return script.list(response);
    await script.serve({ path, headers: request.headers, body: JSON.parse(request.text) }, response);
  }
}

interface Incoming {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

class Script implements ScriptedModel {
  readonly requests: AskedModel[] = [];
  readonly refusals: string[] = [];
  listings = 0;
  private longest = Number.POSITIVE_INFINITY;
  private readonly waiting: { readonly times: number; resolve(): void }[] = [];

  constructor(
    readonly baseUrl: string,
    private readonly replies: ScriptedReply[],
  ) {}

  play(...replies: readonly ScriptedReply[]): void {
    this.replies.push(...replies);
  }

  limit(characters: number): void {
    this.longest = characters;
  }

  async asked(times: number): Promise<AskedModel> {
    if (this.requests.length < times)
      await new Promise<void>((resolve) => this.waiting.push({ times, resolve }));
    const request = this.requests[times - 1];
    if (!request) throw new Error(`The model was not asked ${times} times`);
    return request;
  }

  list(response: ServerResponse): void {
    this.listings += 1;
    sendJson(response, { data: scriptedModels });
  }

  async serve(request: AskedModel, response: ServerResponse): Promise<void> {
    this.requests.push(request);
    for (const { times, resolve } of this.waiting) if (this.requests.length >= times) resolve();
    const fault = scriptedWireFor(request).faultIn(request.body);
    if (fault !== undefined) {
      this.refusals.push(fault);
      return sendStatus(response, refuse(400, fault));
    }
    const { length } = JSON.stringify(request.body.messages ?? request.body.input);
    if (length <= this.longest) return reply(this.replies.shift() ?? scriptIsOver, request, response);
    sendStatus(response, refuse(400, `prompt is too long: ${length} tokens > ${this.longest} maximum`));
  }
}

const scriptIsOver = refuse(400, 'The script is over');

const scriptedModels = [
  { id: 'first-model', name: 'First', capabilities: { supports: { vision: true }, limits: {} } },
  { id: 'second-model', name: 'Second', capabilities: { supports: {}, limits: {} } },
];

async function reply(scripted: ScriptedReply, request: AskedModel, response: ServerResponse): Promise<void> {
  const wire = scriptedWireFor(request);
  switch (scripted.type) {
    case 'status':
      return sendStatus(response, scripted);
    case 'hold':
      await scripted.released;
      return reply(scripted.then, request, response);
    case 'hangUp':
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await writeAll(
        response,
        wire.streamOf({ type: 'answer', chunks: scripted.chunks, calls: [] }).slice(0, -2),
      );
      response.destroy();
      return;
    case 'answer':
      if (!request.body.stream) return sendJson(response, wire.bodyOf(scripted, request.body.model));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await writeAll(response, wire.streamOf(scripted, request.body.model));
      response.end();
  }
}

/** One write after the other, so that no two chunks are one by chance alone. */
async function writeAll(response: ServerResponse, lines: readonly string[]): Promise<void> {
  for (const line of lines) await new Promise<void>((resolve) => response.write(line, () => resolve()));
}

function sendStatus(response: ServerResponse, scripted: ScriptedReply): void {
  if (scripted.type !== 'status') return;
  response.writeHead(scripted.status, { 'content-type': 'application/json', ...scripted.headers });
  response.end(scripted.body);
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
