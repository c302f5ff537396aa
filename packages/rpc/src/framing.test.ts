import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FramingError } from './errors.js';
import { FrameReader, frame } from './framing.js';
import { encode, type Message } from './message.js';

test('a frame has exactly one header, with the length in bytes', () => {
  const message: Message = { jsonrpc: '2.0', method: 'é€😀' };
  expect(frame(encode(message))).toBe('Content-Length: 38\r\n\r\n{"jsonrpc":"2.0","method":"é€😀"}');
});

test('any messages come out whole, wherever the stream was split', () => {
  fc.assert(
    fc.property(
      fc.array(anyMessage, { maxLength: 6 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      (messages, cuts) => {
        expect(readAll(split(bytesOf(messages), cuts))).toEqual({ messages: messages.map(asJson) });
      },
    ),
  );
});

test('any messages come out whole when they arrive byte by byte', () => {
  fc.assert(
    fc.property(fc.array(anyMessage, { maxLength: 3 }), (messages) => {
      const bytes = bytesOf(messages);
      const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
      expect(readAll(single)).toEqual({ messages: messages.map(asJson) });
    }),
    { numRuns: 30 },
  );
});

test('a stream cut short gives its whole messages and is called truncated unless the cut is between two', () => {
  const messages = [message('é€😀'), message([1, 2]), message(null)];
  const bytes = bytesOf(messages);
  const ends = messages.map((_, index) => bytesOf(messages.slice(0, index + 1)).length);
  for (let length = 0; length <= bytes.length; length += 1) {
    const whole = messages.filter((_, index) => (ends[index] ?? 0) <= length);
    const isBetween = length === 0 || ends.includes(length);
    expect(readAll([bytes.subarray(0, length)])).toEqual({
      messages: whole,
      ...(isBetween ? {} : { fault: 'truncated' }),
    });
  }
});

test('garbage never makes anything but messages and a FramingError', () => {
  const headerLike = fc.tuple(
    fc.constantFrom('Content-Length: ', 'content-length:', 'X: ', '', 'Content-Length'),
    fc.oneof(fc.nat({ max: 30 }).map(String), fc.string()),
    fc.constantFrom('\r\n\r\n', '\n\n', '\r\n', ''),
    fc.oneof(fc.json(), fc.string()),
  );
  const garbage = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
    fc.array(headerLike, { maxLength: 4 }).map((parts) => Buffer.from(parts.flat().join(''))),
  );
  fc.assert(
    fc.property(garbage, fc.array(fc.nat(), { maxLength: 4 }), (bytes, cuts) => {
      const { messages, fault } = readAll(split(bytes, cuts));
      expect(messages.every((received) => typeof received === 'object')).toBe(true);
      expect([undefined, 'header', 'too_large', 'too_deep', 'json', 'message', 'truncated']).toContain(fault);
    }),
  );
});

test.each([
  ['any case and spacing', 'CONTENT-length:14'],
  ['white space around the number', 'Content-Length: \t 14 \t'],
  ['other headers', 'Content-Type: application/json; charset=utf-8\r\nContent-Length: 14\r\nX-A: b:c'],
  ['an equal duplicate', 'Content-Length: 14\r\nContent-Length: 014'],
])('the header may have %s', (_, header) => {
  expect(readAll([Buffer.from(`${header}\r\n\r\n{"method":"m"}`)])).toEqual({ messages: [{ method: 'm' }] });
});

test.each([
  ['no Content-Length', 'Content-Type: text/plain\r\n\r\n{}', 'Content-Length is missing'],
  ['another protocol', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'not of the form'],
  ['JSON without a header', '{"jsonrpc"', 'does not begin with a header name'],
  ['an empty header', '\r\n\r\n', 'does not begin with a header name'],
  ['a negative length', 'Content-Length: -1\r\n\r\n', 'plain decimal'],
  ['a signed length', 'Content-Length: +2\r\n\r\n{}', 'plain decimal'],
  ['a hexadecimal length', 'Content-Length: 0x2\r\n\r\n{}', 'plain decimal'],
  ['a fraction', 'Content-Length: 2.0\r\n\r\n{}', 'plain decimal'],
  ['no number', 'Content-Length:\r\n\r\n{}', 'plain decimal'],
  ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}', 'different values'],
  ['bare line feeds', 'Content-Length: 2\n\n{}', 'LF without CR'],
  ['an endless header', `X: ${'a'.repeat(9000)}`, 'longer than 8192'],
])('a header with %s is refused, with what is expected', (_, text, flaw) => {
  const refused = faultOf(Buffer.from(text));
  expect(refused).toMatchObject({ kind: 'header', id: null });
  expect(refused?.message).toContain(flaw);
  expect(refused?.message).toContain('expected `Content-Length: <bytes>`');
});

test.each(['1001', '99999999999999999999', '9'.repeat(400)])(
  'a body of %s bytes is refused by its header',
  (length) => {
    const reader = new FrameReader({ maxBodyBytes: 1000 });
    const push = () => reader.push(Buffer.from(`Content-Length: ${length}\r\n\r\n`), () => undefined);
    expect(push).toThrow(
      expect.objectContaining({ kind: 'too_large', message: expect.stringContaining('at most 1000') }),
    );
  },
);

test('the limit itself is accepted', () => {
  const bytes = bytesOf([message('x'.repeat(955))]);
  const received: Message[] = [];
  new FrameReader({ maxBodyBytes: 1000 }).push(bytes, (each) => received.push(each));
  expect(received).toEqual([message('x'.repeat(955))]);
  expect(bytes.toString()).toMatch(/^Content-Length: 1000\r\n/);
});

test('a large body in many small pieces is put together in linear time', () => {
  const large = message('ü'.repeat(4_000_000));
  const bytes = bytesOf([large, message('next')]);
  const pieces: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += 61) pieces.push(bytes.subarray(start, start + 61));
  expect(readAll(pieces)).toEqual({ messages: [large, message('next')] });
});

const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    jsonrpc: fc.constant('2.0' as const),
    method: fc.string({ unit: 'grapheme' }),
    params: fc.jsonValue({ stringUnit: 'grapheme' }),
  }),
  fc.record({
    jsonrpc: fc.constant('2.0' as const),
    id: fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.constant(null)),
    result: fc.jsonValue({ stringUnit: 'grapheme' }),
  }),
);

function message(params: unknown): Message {
  return { jsonrpc: '2.0', method: 'note', params };
}

/** As JSON has it: no -0. */
function asJson(value: Message): unknown {
  return JSON.parse(JSON.stringify(value));
}

function bytesOf(messages: readonly Message[]): Buffer {
  return Buffer.concat(messages.map((each) => Buffer.from(frame(encode(each)))));
}

function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...places].map((start, index) => bytes.subarray(start, places[index] ?? bytes.length));
}

function readAll(chunks: readonly Buffer[]): { messages: Message[]; fault?: string } {
  const reader = new FrameReader();
  const messages: Message[] = [];
  try {
    for (const chunk of chunks) reader.push(chunk, (each) => messages.push(each));
    reader.end();
    return { messages };
  } catch (error) {
    if (error instanceof FramingError) return { messages, fault: error.kind };
    throw error;
  }
}

function faultOf(bytes: Buffer): FramingError | undefined {
  try {
    new FrameReader().push(bytes, () => undefined);
  } catch (error) {
    if (error instanceof FramingError) return error;
    throw error;
  }
  return undefined;
}
