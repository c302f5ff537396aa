import type { ChatMessage, ModelRequest, Wire } from '@groundcrew/models';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byExtent } from './extent.js';
import { anyRequest } from './strict-histories.js';

export interface RequestExam {
  readonly makeWire: (newId: () => string) => Promise<Wire>;
  /** Why a strict service would refuse a body; undefined when it would take it. */
  readonly faultIn: (body: unknown) => string | undefined;
}

/** The same cases on every run. */
const seed = 20_260_101;

/** What every wire must pass on the way out: bodies that a strict service takes, and that it need not read twice. */
export function requestContract({ makeWire, faultIn }: RequestExam): void {
  const bodyOf = async () => {
    const wire = await makeWire(() => 'new');
    return (request: ModelRequest) => JSON.stringify(wire.encode(request));
  };

  const histories = byExtent({ short: 500, full: 10_000 });
  test(`${histories} random histories are taken by a strict service`, async () => {
    const body = await bodyOf();
    fc.assert(
      fc.property(anyRequest(), (request) => {
        const fault = faultIn(JSON.parse(body(request)));
        if (fault !== undefined) throw new Error(fault);
      }),
      { seed, numRuns: histories },
    );
  }, 120_000);

  test('what consecutive calls share is the same, byte by byte, up to the end of the shorter one', async () => {
    const body = await bodyOf();
    fc.assert(
      fc.property(anyRequest(), (any) => {
        const texts = consecutive(steady(any)).map(body);
        const shared = texts.slice(1).map((text, index) => commonBytes(texts[index] ?? '', text));
        // The conversation comes last: only the brackets that close it may differ.
        expect(shared).toEqual(texts.slice(0, -1).map((text) => text.length - ']}'.length));
      }),
      { seed, numRuns: 300 },
    );
  });

  test('what was written before does not show', async () => {
    const used = await bodyOf();
    const newWires = await Promise.all(Array.from({ length: 100 }, bodyOf));
    let run = 0;
    fc.assert(
      fc.property(anyRequest(), anyRequest(), (request, other) => {
        const [first] = request.messages;
        // A conversation that begins alike and goes on otherwise is the nearest to a wrong memory.
        const rival = { ...other, messages: first ? [first, ...other.messages] : other.messages };
        used(rival);
        const fresh = newWires[run++];
        expect(used(request)).toBe(fresh?.(request));
      }),
      { seed, numRuns: 100 },
    );
  });

  test('the same request is the same body, and encoding changes nothing in it', async () => {
    const body = await bodyOf();
    fc.assert(
      fc.property(anyRequest(), (request) => {
        const before = JSON.stringify(request);
        expect(body(request)).toBe(body(request));
        expect(JSON.stringify(request)).toBe(before);
      }),
      { seed, numRuns: 100 },
    );
  });
}

/** The request with constant settings, and with a text in every message. */
function steady(request: ModelRequest): ModelRequest {
  const { reasoningEffort: _, ...rest } = request;
  const tools = [{ name: 'view', description: 'Shows a file.', inputSchema: undefined }];
  return { ...rest, tools, messages: request.messages.map(hasText) };
}

function hasText(message: ChatMessage): ChatMessage {
  return message.role === 'assistant' && message.text.trim() === '' ? { ...message, text: 'Well' } : message;
}

/** The calls that led to this one: one before each answer. */
function consecutive(request: ModelRequest): readonly ModelRequest[] {
  const ends = request.messages.flatMap((message, index) => (message.role === 'assistant' ? [index] : []));
  return [...ends, request.messages.length].map((end) => ({
    ...request,
    messages: request.messages.slice(0, end),
  }));
}

function commonBytes(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  return at;
}
