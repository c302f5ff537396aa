import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { basename } from 'node:path';
import { readCassette } from './cassette-file.js';
import { type Asked, agreement, describeDifference, type Ignorable, isAnswerTo } from './comparison.js';
import type { Answer } from './conversation.js';
import { TestingError } from './errors.js';
import {
  type Exchange,
  keptQuestion,
  type ModelExchange,
  type PlainExchange,
  withParts,
} from './exchange.js';
import { isJson, type Json, parseJson } from './json.js';
import { headerPairs, type Incoming, LocalServer, sendEvents, sendJson } from './local-server.js';
import { Masking, type MaskingOptions, type Numbering } from './masking.js';
import { Secrets } from './secrets.js';
import type { Wire } from './wires/wire.js';
import { wireNamed, wireNameOf } from './wires/wires.js';

/** What is played back, and how strictly. */
export interface ReplayOptions extends MaskingOptions {
  readonly file: string;
  /** What may differ from the recording; nothing unless said. */
  readonly ignore?: readonly Ignorable[];
  /** Values that were taken out of the recording besides what looks or is sent like a secret. */
  readonly secrets?: readonly string[];
}

/** A model API that knows only what was recorded. */
export interface Replay extends AsyncDisposable {
  /** The address to use instead of the upstream's. */
  readonly baseUrl: string;
  /** Why requests were refused: each says which message differs first, with a diff. */
  readonly problems: readonly string[];
  /** The exchanges that were not requested yet, a line each. */
  readonly unused: readonly string[];
  /** Throws a TestingError unless all that was asked was recorded, and all that was recorded was asked. */
  verify(): void;
  /** May be called again. */
  close(): Promise<void>;
}

/** Answers as the cassette has it, each exchange once; a request that was not recorded is refused, and not worth a retry. */
export async function replay(options: ReplayOptions): Promise<Replay> {
  const player = new Player(options);
  const server = await LocalServer.open((incoming, response) => player.serve(incoming, response));
  const close = () => server.close();
  return {
    baseUrl: server.origin + player.basePath,
    problems: player.problems,
    get unused() {
      return player.unused();
    },
    verify: () => player.verify(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

class Player {
  readonly problems: string[] = [];
  readonly basePath: string;
  private readonly name: string;
  private readonly masking: Masking;
  private readonly secrets: Secrets;
  private readonly exchanges: readonly Exchange[];
  private readonly played = new Set<Exchange>();

  constructor(private readonly options: ReplayOptions) {
    this.secrets = new Secrets(options.secrets ?? []);
    this.masking = new Masking(options, this.secrets);
    const { upstream, exchanges } = readCassette(options.file, this.masking);
    this.exchanges = exchanges;
    this.name = basename(options.file);
    const base = URL.canParse(upstream) ? new URL(upstream).pathname : '';
    this.basePath = base.replace(/\/$/, '');
  }

  async serve(incoming: Incoming, response: ServerResponse): Promise<void> {
    this.secrets.learn(headerPairs(incoming.headers));
    const name = incoming.method === 'POST' ? wireNameOf(incoming.path) : undefined;
    const body = parseJson(incoming.text);
    const below = incoming.path.startsWith(`${this.basePath}/`)
      ? incoming.path.slice(this.basePath.length)
      : incoming.path;
    const path = this.masking.ofRequest(below, new Map());
    if (name === undefined || !isJson(body)) return this.servePlain({ ...incoming, path }, response);
    const wire = wireNamed(name);
    const { question, numbering } = keptQuestion(wire.readQuestion(body), this.masking);
    const exchange = this.take({ path, question });
    if (exchange) return this.play(exchange, { wire, body, numbering }, response);
    const problem = this.missed({ path, question });
    this.problems.push(problem);
    sendJson(response, missStatus, wire.writeFailure(problem, 'not_recorded'), { 'x-should-retry': 'false' });
  }

  unused(): readonly string[] {
    return this.models()
      .filter((exchange) => !this.played.has(exchange))
      .map(({ number, question }) => {
        const last = question.messages.at(-1);
        return `exchange ${number}, whose last message (${last?.role}) is ${JSON.stringify(brief(last?.text ?? ''))}`;
      });
  }

  verify(): void {
    const unused = this.unused().map((each) => `Not asked for: ${each}.`);
    const all = [...this.problems, ...unused];
    if (all.length > 0)
      throw new TestingError(
        'not_as_expected',
        `${this.name} was not replayed as recorded.\n\n${all.join('\n\n')}`,
      );
  }

  private models(): readonly ModelExchange[] {
    return this.exchanges.filter((exchange) => exchange.type === 'model');
  }

  /** Of several that are the same, the earliest that was not played yet. */
  private take(asked: Asked): ModelExchange | undefined {
    const found = this.models().find(
      (exchange) => !this.played.has(exchange) && isAnswerTo(exchange, asked, this.ignore),
    );
    if (found) this.played.add(found);
    return found;
  }

  private missed(asked: Asked): string {
    const all = this.models();
    const again = all.findLast((exchange) => isAnswerTo(exchange, asked, this.ignore));
    if (again)
      return `Not recorded in ${this.name}: exchange ${again.number} answers this request and was played already. It was asked once more often than when it was recorded.`;
    // Exchanges not yet played come first; among them, the one with the longest common beginning.
    const waiting = all.filter((exchange) => !this.played.has(exchange));
    const candidates = waiting.length > 0 ? waiting : all;
    const nearest = candidates.reduce<ModelExchange | undefined>((best, each) => {
      const isNearer = !best || agreement(each, asked, this.ignore) > agreement(best, asked, this.ignore);
      return isNearer ? each : best;
    }, undefined);
    if (!nearest) return `Not recorded in ${this.name}: it has no model call at all.`;
    const difference = describeDifference(nearest, asked, this.ignore);
    return `Not recorded in ${this.name}. The nearest is exchange ${nearest.number} (- recorded, + asked now).\n${difference}`;
  }

  private get ignore(): readonly Ignorable[] {
    return this.options.ignore ?? [];
  }

  private async play(
    { outcome, number, question }: ModelExchange,
    asked: { readonly wire: Wire; readonly body: Json; readonly numbering: Numbering },
    response: ServerResponse,
  ): Promise<void> {
    if (outcome.type === 'failure') return sendJson(response, outcome.status, outcome.body, outcome.headers);
    const answer = this.filled(outcome.answer, asked.numbering);
    const call = { model: question.model, number, body: asked.body };
    const isStream = asked.body.stream === true;
    if (!isStream && answer.ending === 'complete')
      return sendJson(response, 200, asked.wire.writeWhole(answer, call));
    if (isStream) await sendEvents(response, asked.wire.writeStream(answer, call));
    if (answer.ending === 'broken') response.destroy();
    else if (answer.ending === 'abandoned') await once(response, 'close');
    else if (isStream) response.end();
    else sendJson(response, 200, asked.wire.writeWhole(answer, call));
  }

  private filled(answer: Answer, numbering: Numbering): Answer {
    const fill = (text: string) => this.masking.fill(text, numbering);
    return withParts(answer, {
      pieces: (pieces) => pieces.map(fill),
      call: (call) => ({ ...call, argumentsText: fill(call.argumentsText) }),
      seal: (seal) => seal,
    });
  }

  /** Lists and the like may be asked for as often as one wants. */
  private servePlain({ method, path }: Incoming, response: ServerResponse): void {
    const plain = this.exchanges.filter((exchange): exchange is PlainExchange => exchange.type === 'plain');
    const same = plain.filter((exchange) => exchange.method === method && exchange.path === path);
    const found = same.find((exchange) => !this.played.has(exchange)) ?? same.at(-1);
    if (found) this.played.add(found);
    const message = `Not recorded in ${this.name}: ${method} ${path}`;
    if (!found) this.problems.push(message);
    const { status, answer } = found ?? {
      status: missStatus,
      answer: { error: { message, code: 'not_recorded' } },
    };
    sendJson(response, status, answer);
  }
}

/** A status that runtimes and SDKs pass on at once: nothing will be there the next time either. */
const missStatus = 404;

function brief(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
}
