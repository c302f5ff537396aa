import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'yaml';
import { readAnswer, readMessage, writeAnswer, writeMessage } from './cassette-text.js';
import type { Message } from './conversation.js';
import { TestingError } from './errors.js';
import { type Cassette, type Exchange, historyAfter, type ModelExchange } from './exchange.js';
import { isJson, type Json } from './json.js';
import type { Masking } from './masking.js';
import { wireNameOf } from './wires/wires.js';

const heading = `# A recorded conversation with a model: requests are compared with it, answers are played back.
# An exchange that continues another one has all its messages and its answer before its own.
`;

/** Writes a cassette; whole or not at all. */
export function writeCassette(file: string, cassette: Cassette, masking: Masking): void {
  const text = `${heading}${masking.lastCheck(toYaml(fileContent(cassette, masking)))}`;
  mkdirSync(dirname(file), { recursive: true });
  const draft = join(dirname(file), `.${basename(file)}.${process.pid}`);
  writeFileSync(draft, text);
  renameSync(draft, file);
}

/** Reads a cassette. Throws a TestingError that names the place where it makes no sense. */
export function readCassette(file: string, masking: Masking): Cassette {
  try {
    return cassetteFrom(parse(readFileSync(file, 'utf8')), masking);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TestingError('unreadable', `Cannot read the cassette ${file}: ${reason}`, { cause: error });
  }
}

function toYaml(content: Json): string {
  const text = stringify(content, { lineWidth: 0, aliasDuplicateObjects: false });
  if (isDeepStrictEqual(parse(text), content)) return text;
  // Some texts have characters that plain and block scalars do not bring back.
  const type = { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' } as const;
  return stringify(content, { lineWidth: 0, aliasDuplicateObjects: false, ...type });
}

function fileContent({ upstream, exchanges }: Cassette, masking: Masking): Json {
  const histories = new Map<ModelExchange, readonly Message[]>();
  const written = exchanges.map((exchange) => {
    if (exchange.type === 'plain') return plainContent(exchange);
    const before = continued(exchange, histories);
    const history = historyAfter(exchange, masking);
    if (history) histories.set(exchange, history);
    return modelContent(exchange, before && { exchange: before, length: histories.get(before)?.length ?? 0 });
  });
  // Only what JSON can say: fields without a value are no fields.
  return JSON.parse(JSON.stringify({ cassette: 1, upstream, exchanges: written })) as Json;
}

/** The longest conversation that this one goes on from. */
function continued(
  exchange: ModelExchange,
  histories: ReadonlyMap<ModelExchange, readonly Message[]>,
): ModelExchange | undefined {
  const { messages } = exchange.question;
  const longestFirst = [...histories].sort(([, one], [, other]) => other.length - one.length);
  const found = longestFirst.find(
    ([earlier, history]) => earlier.wire === exchange.wire && beginWith(messages, history),
  );
  return found?.[0];
}

/** From the last on: that is where conversations part. */
function beginWith(messages: readonly Message[], history: readonly Message[]): boolean {
  if (messages.length < history.length) return false;
  return history.every((_, index) => {
    const place = history.length - 1 - index;
    return isDeepStrictEqual(messages[place], history[place]);
  });
}

function plainContent(exchange: Extract<Exchange, { type: 'plain' }>): Json {
  const { number, method, path, request, status, answer } = exchange;
  return { exchange: number, method, path, request, status, answer };
}

function modelContent(
  { number, path, question, outcome }: ModelExchange,
  before: { readonly exchange: ModelExchange; readonly length: number } | undefined,
): Json {
  const { exchange: earlier, length = 0 } = before ?? {};
  const changed = <T>(mine: T, theirs: T | undefined) => (isDeepStrictEqual(mine, theirs) ? undefined : mine);
  return {
    exchange: number,
    continues: earlier?.number,
    path: changed(path, earlier?.path),
    model: changed(question.model, earlier?.question.model),
    settings: changed(question.settings, earlier?.question.settings),
    tools: changed(question.tools, earlier?.question.tools),
    messages: question.messages.slice(length).map(writeMessage),
    ...(outcome.type === 'answer'
      ? writeAnswer(outcome.answer, question.model)
      : { failure: { status: outcome.status, headers: outcome.headers, body: outcome.body } }),
  };
}

function cassetteFrom(content: unknown, masking: Masking): Cassette {
  if (!isJson(content) || content.cassette !== 1)
    throw new Error('it does not begin with cassette: 1, the version that is understood');
  if (!Array.isArray(content.exchanges)) throw new Error('it has no list of exchanges');
  const exchanges: Exchange[] = [];
  for (const [index, each] of content.exchanges.entries()) {
    const place = `exchanges[${index}]`;
    if (!isJson(each)) throw new Error(`${place} is no mapping`);
    const number = typeof each.exchange === 'number' ? each.exchange : index + 1;
    exchanges.push(exchangeFrom({ place, content: each, number }, exchanges, masking));
  }
  return { upstream: String(content.upstream ?? ''), exchanges };
}

function exchangeFrom(
  { place, content, number }: { readonly place: string; readonly content: Json; readonly number: number },
  earlier: readonly Exchange[],
  masking: Masking,
): Exchange {
  if (typeof content.method === 'string') {
    const { method, path, request, status, answer } = content;
    const known = { path: String(path), status: Number(status ?? 200), answer };
    return { type: 'plain', number, method, ...known, ...(request !== undefined && { request }) };
  }
  const before = earlier.find((each) => each.number === content.continues);
  const previous = before?.type === 'model' ? before : undefined;
  const history = previous && historyAfter(previous, masking);
  if (content.continues !== undefined && !history)
    throw new Error(`${place}.continues names ${content.continues}, which is no answered exchange before it`);
  const path = String(content.path ?? previous?.path ?? '');
  const wire = wireNameOf(path);
  if (wire === undefined) throw new Error(`${place}.path is of no known model API: ${path}`);
  if (!Array.isArray(content.messages)) throw new Error(`${place}.messages is no list`);
  const own = content.messages.map((message, index) => readMessage(message, `${place}.messages[${index}]`));
  const question = {
    model: String(content.model ?? previous?.question.model ?? ''),
    settings: isJson(content.settings) ? content.settings : (previous?.question.settings ?? {}),
    tools: Array.isArray(content.tools) ? content.tools.map(String) : (previous?.question.tools ?? []),
    messages: [...(history ?? []), ...own],
  };
  return { type: 'model', number, wire, path, question, outcome: outcomeFrom(content, place) };
}

function outcomeFrom(content: Json, place: string): ModelExchange['outcome'] {
  if (!isJson(content.failure)) return { type: 'answer', answer: readAnswer(content, place) };
  const { status, headers, body } = content.failure;
  const kept = isJson(headers) ? Object.entries(headers).map(([name, value]) => [name, String(value)]) : [];
  return { type: 'failure', status: Number(status), headers: Object.fromEntries(kept), body };
}
