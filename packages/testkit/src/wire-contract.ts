import { readdirSync, readFileSync } from 'node:fs';
import { ModelError, type ModelEvent, SseReader, type Wire } from '@groundcrew/models';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byExtent } from './extent.js';
import { type RequestExam, requestContract } from './wire-contract-requests.js';

export interface WireExam extends RequestExam {
  readonly name: string;
  /** A wire that takes ids it has to make up from `newId`. */
  readonly makeWire: (newId: () => string) => Promise<Wire>;
  /**
   * A folder of true answers: `x.sse` streamed and `x.json` whole,
   * each with the events it has to become in `<file>.events.json`.
   */
  readonly fixtures: URL;
}

/** The short form cuts an answer at every so many bytes; a prime, so that it meets all kinds of places. */
const stride = byExtent({ short: 13, full: 1 });

/** The same cases on every run. */
const seed = 20_260_101;

/** What every model wire must pass: sound requests, true answers in any pieces, and broken ones without a crash. */
export function wireContract(given: WireExam): void {
  const exam = withOneWire(given);
  const files = readdirSync(exam.fixtures).sort();
  const answers = files.filter((file) => !file.endsWith('.events.json'));
  describe(`the ${exam.name} wire`, () => {
    requestContract(exam);
    for (const file of answers.filter((name) => name.endsWith('.sse'))) streamedAnswer(exam, file);
    for (const file of answers.filter((name) => name.endsWith('.json'))) wholeAnswer(exam, file);
    brokenAnswers(
      exam,
      answers.filter((name) => name.endsWith('.sse')),
    );
  });
}

/** Loads the wire once: an answer of some thousand bytes is read some thousand times. Each reading has ids of its own. */
function withOneWire(exam: WireExam): WireExam {
  let newId = (): string => '';
  let wire: Promise<Wire> | undefined;
  const makeWire = (next: () => string): Promise<Wire> => {
    newId = next;
    wire ??= exam.makeWire(() => newId());
    return wire;
  };
  return { ...exam, makeWire };
}

function streamedAnswer(exam: WireExam, file: string): void {
  const bytes = readFileSync(new URL(file, exam.fixtures));
  const expected = readEvents(exam, file);

  test(`${file} becomes its events`, async () => {
    const events = await decode(exam, [bytes]);
    expect(events).toEqual(expected);
    expect(faults(events)).toEqual([]);
  });

  test(`${file} cut in two at any byte becomes the same events`, async () => {
    const wanted = JSON.stringify(expected);
    const different: number[] = [];
    for (let at = 1; at < bytes.length; at += stride) {
      const events = await decode(exam, [bytes.subarray(0, at), bytes.subarray(at)]);
      if (JSON.stringify(events) !== wanted) different.push(at);
    }
    expect(different).toEqual([]);
  });

  test(`${file} cut at random becomes the same events`, async () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(cuts, async (positions) => {
        expect(await decode(exam, pieces(bytes, positions))).toEqual(expected);
      }),
      { seed, numRuns: 50 },
    );
  });

  test(`${file} ending early at any byte is an answer or a ModelError`, async () => {
    const wrong: unknown[] = [];
    for (let at = 0; at < bytes.length; at += stride)
      wrong.push(...(await faultsOf(exam, [bytes.subarray(0, at)])));
    expect(wrong).toEqual([]);
  });
}

function wholeAnswer(exam: WireExam, file: string): void {
  test(`${file} becomes its events`, async () => {
    const body: unknown = JSON.parse(readFileSync(new URL(file, exam.fixtures), 'utf8'));
    const events = (await newWire(exam)).decodeWhole(body);
    expect(events).toEqual(readEvents(exam, file));
    expect(faults(events)).toEqual([]);
  });
}

function brokenAnswers(exam: WireExam, files: readonly string[]): void {
  const anyFile = fc.constantFrom(...files);

  test('an answer with anything in the place of anything is an answer or a ModelError', async () => {
    const damage = fc.record({ file: anyFile, frame: fc.nat(), node: fc.nat(), value: fc.jsonValue() });
    await fc.assert(
      fc.asyncProperty(damage, async ({ file, frame, node, value }) => {
        const frames = readFrames(exam, file);
        const changed = frame % frames.length;
        const damaged = frames.map((data, at) => (at === changed ? replaced(data, node, value) : data));
        expect(await faultsOf(exam, [toBytes(damaged)])).toEqual([]);
      }),
      { seed, numRuns: 500 },
    );
  });

  test('an event that is not JSON is a bad response, unless it was only cut off', async () => {
    const notJson = fc
      .string()
      .map((text) => `{${text}`)
      .filter((text) => !isJson(text) && !/[\r\n]/.test(text));
    await fc.assert(
      fc.asyncProperty(anyFile, notJson, async (file, text) => {
        const frames = readFrames(exam, file);
        const inside = decode(exam, [toBytes([text, ...frames])]);
        await expect(inside).rejects.toMatchObject({ name: 'ModelError', kind: 'bad_response' });
        const last = decode(exam, [toBytes([text])]);
        await expect(last).rejects.toMatchObject({ name: 'ModelError', kind: 'unavailable' });
      }),
      { seed },
    );
  });

  test('a whole answer of any shape is an answer or a ModelError', async () => {
    const wire = await newWire(exam);
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        try {
          expect(faults(wire.decodeWhole(body))).toEqual([]);
        } catch (error) {
          expect(error).toBeInstanceOf(ModelError);
        }
      }),
      { seed },
    );
  });

  test('a stream of nothing is a ModelError', async () => {
    await expect(decode(exam, [])).rejects.toMatchObject({ name: 'ModelError', kind: 'unavailable' });
  });
}

/** What is wrong with an answer's events, in words; nothing for a good one. */
function faults(events: readonly ModelEvent[]): readonly string[] {
  const ends = events.filter((event) => event.type === 'end').length;
  const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
  const deltas = new Map<string, string>();
  for (const event of events)
    if (event.type === 'tool_call_delta')
      deltas.set(event.callId, (deltas.get(event.callId) ?? '') + event.delta);
  const callIds = new Set(calls.map((call) => call.callId));
  return [
    ...(ends === 1 && events.at(-1)?.type === 'end' ? [] : ['there is not exactly one end, last']),
    ...(callIds.size === calls.length ? [] : ['two calls share an id']),
    ...(callIds.has('') ? ['a call has an empty id'] : []),
    ...calls
      .filter((call) => deltas.has(call.callId) && deltas.get(call.callId) !== call.argumentsText)
      .map((call) => `the pieces of ${call.callId} are not its whole`),
    ...[...deltas.keys()].filter((id) => !callIds.has(id)).map((id) => `${id} has pieces and no whole`),
    ...events
      .filter((event) => (event.type === 'text' || event.type === 'reasoning') && event.delta === '')
      .map(() => 'a piece is empty'),
  ];
}

async function decode(exam: WireExam, reads: readonly Uint8Array[]): Promise<readonly ModelEvent[]> {
  const decoder = (await newWire(exam)).decode();
  const reader = new SseReader();
  const events = reads.flatMap((read) => decoder.take(reader.push(read)));
  return [...events, ...decoder.take(reader.end()), ...decoder.end()];
}

/** An answer may be refused, but only by a ModelError. */
async function faultsOf(exam: WireExam, reads: readonly Uint8Array[]): Promise<readonly unknown[]> {
  return decode(exam, reads).then(faults, (error: unknown) => (error instanceof ModelError ? [] : [error]));
}

function newWire(exam: WireExam): Promise<Wire> {
  let count = 0;
  return exam.makeWire(() => {
    count += 1;
    return `new-${count}`;
  });
}

function readEvents(exam: WireExam, file: string): unknown {
  return JSON.parse(readFileSync(new URL(`${file}.events.json`, exam.fixtures), 'utf8'));
}

function readFrames(exam: WireExam, file: string): readonly string[] {
  const reader = new SseReader();
  return [...reader.push(readFileSync(new URL(file, exam.fixtures))), ...reader.end()];
}

function toBytes(frames: readonly string[]): Uint8Array {
  return new TextEncoder().encode(frames.map((data) => `data: ${data}\n\n`).join(''));
}

function pieces(bytes: Uint8Array, positions: readonly number[]): readonly Uint8Array[] {
  const cuts = [0, ...[...positions].sort((left, right) => left - right), bytes.length];
  return cuts.slice(1).map((cut, at) => bytes.subarray(cuts[at], cut));
}

/** The JSON text with its n-th node, counted in the order of writing, replaced; other texts are replaced whole. */
function replaced(data: string, node: number, value: unknown): string {
  if (!isJson(data)) return JSON.stringify(value);
  let nodes = 0;
  const count = (_: string, inner: unknown) => {
    nodes += 1;
    return inner;
  };
  JSON.stringify(JSON.parse(data), count);
  const chosen = node % nodes;
  let at = -1;
  return JSON.stringify(JSON.parse(data), (_, inner: unknown) => {
    at += 1;
    return at === chosen ? value : inner;
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
