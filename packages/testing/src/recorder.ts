import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { writeCassette } from './cassette-file.js';
import type { Answer, Question } from './conversation.js';
import { TestingError } from './errors.js';
import { type Exchange, keptQuestion, type Outcome, withIds, withParts } from './exchange.js';
import { isJson, parseJson } from './json.js';
import { headerPairs, type Incoming, LocalServer, sendJson } from './local-server.js';
import { Masking, type MaskingOptions, type Numbering } from './masking.js';
import { Secrets } from './secrets.js';
import { framesIn } from './sse.js';
import { wireNamed, wireNameOf } from './wires/wires.js';

/** What is recorded, and where. */
export interface RecordOptions extends MaskingOptions {
  /** The model API's address, as a session's `provider.baseUrl` would name it. */
  readonly upstream: string;
  /** The cassette to write. */
  readonly file: string;
  /** Values that may not be kept, besides what looks or is sent like a secret. */
  readonly secrets?: readonly string[];
  /** How calls are passed on; the global `fetch` unless given. */
  readonly fetch?: typeof fetch;
}

/** A model API that is listened in on. */
export interface Recording extends AsyncDisposable {
  /** The address to use instead of the upstream's. */
  readonly baseUrl: string;
  /** Calls that could not be passed on. */
  readonly problems: readonly string[];
  /** Ends the recording and writes the cassette, if there was any call. May be called again. */
  close(): Promise<void>;
}

/** Passes calls on to a model API and keeps them as a cassette. Throws where `CI` is set: there, nothing is recorded. */
export async function record(options: RecordOptions): Promise<Recording> {
  refuseInCi(options.file);
  const recorder = new Recorder(options);
  const server = await LocalServer.open((incoming, response) => recorder.serve(incoming, response));
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= server.close().then(() => recorder.finish());
    return closing;
  };
  const { pathname } = new URL(options.upstream);
  return {
    baseUrl: server.origin + (pathname === '/' ? '' : pathname.replace(/\/$/, '')),
    problems: recorder.problems,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Whether this is a place without a user, such as CI. */
export function isCi(environment: Readonly<Record<string, string | undefined>> = process.env): boolean {
  const { CI } = environment;
  return CI !== undefined && CI !== '' && CI !== 'false' && CI !== '0';
}

function refuseInCi(file: string): void {
  if (!isCi()) return;
  throw new TestingError(
    'recording_in_ci',
    `CI is set, and nothing is recorded there: record ${file} on your machine and keep it with the tests`,
  );
}

/** What is known of a call when its answer has come in. */
interface Passed {
  readonly incoming: Incoming;
  readonly place: number;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly ending: 'complete' | 'broken' | 'abandoned';
}

class Recorder {
  readonly problems: string[] = [];
  private readonly secrets: Secrets;
  private readonly masking: Masking;
  private readonly kept: Exchange[] = [];
  private readonly ids = new Map<string, string>();
  private readonly seals = new Map<string, string>();
  private readonly running = new Set<Promise<void>>();
  private calls = 0;

  constructor(private readonly options: RecordOptions) {
    this.secrets = new Secrets(options.secrets ?? []);
    this.masking = new Masking(options, this.secrets);
  }

  async serve(incoming: Incoming, response: ServerResponse): Promise<void> {
    const place = ++this.calls;
    const passing = this.pass(incoming, response, place);
    this.running.add(passing);
    try {
      await passing;
    } finally {
      this.running.delete(passing);
    }
  }

  async finish(): Promise<void> {
    await Promise.allSettled(this.running);
    if (this.kept.length === 0) return;
    const inOrder = this.kept.sort((one, other) => one.number - other.number);
    const exchanges = inOrder.map((exchange, index) => ({ ...exchange, number: index + 1 }));
    const { origin, pathname } = new URL(this.options.upstream);
    const upstream = this.masking.ofRequest(origin + pathname.replace(/\/$/, ''), new Map());
    writeCassette(this.options.file, { upstream, exchanges }, this.masking);
  }

  private async pass(incoming: Incoming, response: ServerResponse, place: number): Promise<void> {
    this.secrets.learn(headerPairs(incoming.headers));
    const leaving = new AbortController();
    response.once('close', () => leaving.abort());
    const answer = await this.ask(incoming, leaving.signal);
    if (answer instanceof Error) {
      this.problems.push(`${incoming.method} ${incoming.path}: ${answer.message}`);
      return sendJson(response, 502, { error: { message: answer.message } });
    }
    const { status, headers, body } = answer;
    this.secrets.learn(headers);
    response.writeHead(status, answerHeaders(headers));
    const chunks: Uint8Array[] = [];
    const ending = await passOn(body, { response, chunks });
    const text = new TextDecoder().decode(Buffer.concat(chunks));
    this.keep({ incoming, place, status, headers, text, ending });
  }

  private async ask(
    { method, path, headers, text }: Incoming,
    signal: AbortSignal,
  ): Promise<Response | Error> {
    const { fetch: passing = fetch, upstream } = this.options;
    try {
      return await passing(new URL(upstream).origin + path, {
        method,
        headers: [
          ...headerPairs(headers).filter(([name]) => !ofOneHop.has(name)),
          ['accept-encoding', 'identity'],
        ].map(([name = '', value = '']): [string, string] => [name, value]),
        ...(text !== '' && { body: text }),
        redirect: 'manual',
        signal,
      });
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      return new Error(
        `Cannot reach ${new URL(upstream).origin}: ${cause instanceof Error ? cause.message : cause}`,
      );
    }
  }

  private keep(passed: Passed): void {
    const { incoming, place, status, text } = passed;
    const wire = incoming.method === 'POST' ? wireNameOf(incoming.path) : undefined;
    const asked = parseJson(incoming.text);
    const read = wire !== undefined && isJson(asked) ? wireNamed(wire).readQuestion(asked) : undefined;
    const said = read ? textsOf(read) : [incoming.text];
    for (const each of [incoming.path, ...said, text]) this.secrets.find(each);
    const path = this.masking.ofRequest(this.pathBelow(incoming.path), new Map());
    if (wire === undefined || !read) {
      const value = (given: string) => this.masking.value(parseJson(given) ?? given, new Map());
      const request = incoming.text === '' ? {} : { request: value(incoming.text) };
      const { method } = incoming;
      this.kept.push({ type: 'plain', number: place, method, path, ...request, status, answer: value(text) });
      return;
    }
    const { question, numbering } = keptQuestion(read, this.masking);
    const messages = question.messages.map((message) => withIds(message, (id) => this.idOf(id)));
    const outcome = this.outcomeOf(passed, numbering);
    this.kept.push({
      type: 'model',
      number: place,
      wire,
      path,
      question: { ...question, messages },
      outcome,
    });
  }

  private pathBelow(path: string): string {
    const { pathname } = new URL(this.options.upstream);
    const base = pathname.replace(/\/$/, '');
    return path.startsWith(`${base}/`) ? path.slice(base.length) : path;
  }

  private outcomeOf({ incoming, status, headers, text, ending }: Passed, numbering: Numbering): Outcome {
    const body = parseJson(text);
    if (status >= 400) {
      const kept = [...headers].filter(([name]) => /^(retry-after(-ms)?|x-should-retry)$/.test(name));
      const failed = this.masking.value(body ?? text, numbering);
      return { type: 'failure', status, headers: Object.fromEntries(kept), body: failed };
    }
    const name = wireNameOf(incoming.path) ?? 'openai-chat';
    const isStream = headers.get('content-type')?.includes('event-stream') ?? false;
    const read =
      isStream || !isJson(body)
        ? wireNamed(name).readStream(framesIn(text))
        : wireNamed(name).readWhole(body);
    const whole: Answer = ending === 'complete' ? read : { ...read, ending };
    return { type: 'answer', answer: this.keptAnswer(whole, numbering) };
  }

  private keptAnswer(answer: Answer, numbering: Numbering): Answer {
    const { error, usage, ...rest } = withParts(answer, {
      pieces: (pieces) => this.masking.ofAnswer(pieces, numbering),
      call: ({ id, name, argumentsText }) => ({
        id: this.newIdOf(id),
        name,
        argumentsText: this.masking.ofAnswer([argumentsText], numbering).join(''),
      }),
      seal: (seal) => numberedBy(this.seals, seal, 'seal'),
    });
    const parts = rest.parts.map((part) => {
      if (part.type !== 'other') return part;
      const content = this.masking.value(part.content, numbering);
      return { ...part, content: isJson(content) ? content : {} };
    });
    const failed = error && this.masking.value(error, numbering);
    return { ...rest, parts, ...(usage && { usage }), ...(isJson(failed) && { error: failed }) };
  }

  /** An id of an answer; services that give none, or one twice, have their calls distinguished all the same. */
  private newIdOf(id: string): string {
    return this.idOf(id === '' || this.ids.has(id) ? `${id} ${this.ids.size}` : id);
  }

  private idOf(id: string): string {
    return numberedBy(this.ids, id, 'call');
  }
}

/** All that a question says, text by text: most of them were in the question before. */
function textsOf({ messages, settings, tools }: Question): readonly string[] {
  const spoken = messages.flatMap((message) =>
    message.role === 'assistant'
      ? [message.text, ...message.calls.map(({ argumentsText }) => argumentsText)]
      : [message.text],
  );
  return [JSON.stringify(settings), JSON.stringify(tools), ...spoken];
}

/** By the order in which they turn up. */
function numberedBy(known: Map<string, string>, id: string, word: string): string {
  const number = known.get(id) ?? `${word}_${known.size + 1}`;
  known.set(id, number);
  return number;
}

/** Headers that are about one connection, or that the next one sets itself. */
const ofOneHop = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function answerHeaders(headers: Headers): Record<string, string | string[]> {
  const plain = [...headers].filter(([name]) => !ofOneHop.has(name) && name !== 'set-cookie');
  const cookies = headers.getSetCookie();
  return { ...Object.fromEntries(plain), ...(cookies.length > 0 && { 'set-cookie': cookies }) };
}

/** Hands each chunk on as it comes; reports how it ended. */
async function passOn(
  body: Response['body'],
  { response, chunks }: { readonly response: ServerResponse; readonly chunks: Uint8Array[] },
): Promise<Passed['ending']> {
  try {
    for await (const chunk of body ?? []) {
      chunks.push(chunk);
      if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
  } catch {
    const hasClosed = response.destroyed;
    response.destroy();
    return hasClosed ? 'abandoned' : 'broken';
  }
  if (response.destroyed) return 'abandoned';
  response.end();
  return 'complete';
}
