import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { LocalServer, Script, type ScriptedCall, type ScriptedReply, sendJson } from '@groundcrew/testing';
import { type SpokenParts, scriptedUsage, scriptedWireFor, spoken } from './scripted-wires.js';
import type { CompletionMessage } from './strict-history.js';
import { sealOf } from './strict-shape.js';

export type { ScriptedCall, ScriptedReply } from '@groundcrew/testing';
export type { CompletionMessage } from './strict-history.js';

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
  return { type: 'answer', pieces: [text] };
}

/** An answer that is streamed in exactly these pieces. */
export function streamChunks(...chunks: readonly string[]): ScriptedReply {
  return { type: 'answer', pieces: chunks };
}

/** An answer that asks for tools. */
export function callTools(...calls: readonly ScriptedCall[]): ScriptedReply {
  return { type: 'answer', calls };
}

/** Any answer: reasoning, text and calls together. */
export function answer(parts: SpokenParts): ScriptedReply {
  return { type: 'answer', ...spoken(parts) };
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
  return { type: 'hangUp', pieces: chunks };
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
  return { reply: { type: 'after', ready: released, reply: then }, release };
}

/** A real HTTP server that speaks every model API, by the path it is called at; each script has an address of its own. */
export class ScriptedApi {
  private readonly scripts = new Map<string, StrictModel>();
  private server: LocalServer | undefined;

  private constructor() {}

  static async open(): Promise<ScriptedApi> {
    const api = new ScriptedApi();
    api.server = await LocalServer.open(({ path, ...rest }, response) => {
      const [, name = '', ...below] = path.split('/');
      const model = api.scripts.get(name);
      if (model) return model.serve({ ...rest, path: `/${below.join('/')}` }, response);
      sendJson(response, 404, { error: { message: `There is no script ${name}` } });
      return Promise.resolve();
    });
    return api;
  }

  /** A model that plays these replies, one for each call. */
  script(...replies: readonly ScriptedReply[]): ScriptedModel {
    const name = `m${this.scripts.size + 1}`;
    const model = new StrictModel(`${this.server?.origin}/${name}`, replies);
    this.scripts.set(name, model);
    return model;
  }

  async close(): Promise<void> {
    await this.server?.close();
  }
}

/** A script whose calls are examined as strictly as the strictest service does. */
class StrictModel implements ScriptedModel {
  private readonly script: Script;
  listings = 0;
  private longest = Number.POSITIVE_INFINITY;

  constructor(
    readonly baseUrl: string,
    replies: readonly ScriptedReply[],
  ) {
    this.script = new Script(replies, {
      faultIn: (asked) => scriptedWireFor(asked).faultIn(asked.body),
      outOfTurn: ({ body }) => this.tooLong(JSON.stringify(body.messages ?? body.input).length),
      usage: scriptedUsage,
      seal: sealOf,
      failureCode: '',
    });
  }

  // Strict services take no other shape, so what they were asked has it.
  get requests(): readonly AskedModel[] {
    return this.script.requests as unknown as readonly AskedModel[];
  }

  get refusals(): readonly string[] {
    return this.script.refusals;
  }

  play(...replies: readonly ScriptedReply[]): void {
    this.script.replies.push(...replies);
  }

  limit(characters: number): void {
    this.longest = characters;
  }

  private tooLong(length: number): ScriptedReply | undefined {
    if (length <= this.longest) return undefined;
    return refuse(400, `prompt is too long: ${length} tokens > ${this.longest} maximum`);
  }

  async asked(times: number): Promise<AskedModel> {
    return (await this.script.asked(times)) as unknown as AskedModel; // as above
  }

  async serve(incoming: Parameters<Script['serve']>[0], response: ServerResponse): Promise<void> {
    if (!/\/models(?:\?|$)/.test(incoming.path)) return this.script.serve(incoming, response);
    this.listings += 1;
    sendJson(response, 200, { data: scriptedModels });
  }
}

const scriptedModels = [
  { id: 'first-model', name: 'First', capabilities: { supports: { vision: true }, limits: {} } },
  { id: 'second-model', name: 'Second', capabilities: { supports: {}, limits: {} } },
];
