import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HttpError } from './errors.js';
import { type ResponseHead, ResponseParser } from './response-parser.js';

interface Received {
  head?: ResponseHead;
  body: string;
  isWhole: boolean;
  mayGoOn: boolean;
}

/** What is heard of an answer that comes in these pieces, after which the service hangs up. */
function hear(pieces: readonly Buffer[]): Received {
  const received: Received = { body: '', isWhole: false, mayGoOn: false };
  const parser = new ResponseParser({
    onHead: (head) => {
      expect(received.head).toBeUndefined();
      received.head = head;
    },
    onData: (bytes) => {
      received.body += bytes.toString('latin1');
    },
    onEnd: () => {
      received.isWhole = true;
    },
  });
  for (const piece of pieces) parser.push(piece);
  received.mayGoOn = parser.mayGoOn;
  if (!received.isWhole) parser.close();
  return received;
}

const whole = (text: string) => hear([Buffer.from(text, 'latin1')]);

const byteByByte = (text: string) => [...Buffer.from(text, 'latin1')].map((byte) => Buffer.from([byte]));

test.each([
  ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello', true],
  ['the same length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nHello', true],
  ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nHe\r\n003\r\nllo\r\n0\r\n\r\n', true],
  [
    'chunks with words of their own and trailers',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n2;a="b"\r\nHe\r\n3 ; c\r\nllo\r\n00\r\nX: 1\r\nY: 2\r\n\r\n',
    true,
  ],
  ['the end of the connection', 'HTTP/1.1 200 OK\r\n\r\nHello', false],
  ['a coding that has no end of its own', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nHello', false],
  [
    'both a length and chunks',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n5\r\nHello\r\n0\r\n\r\n',
    false,
  ],
  ['a last answer', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: foo, Close\r\n\r\nHello', false],
  ['an old server', 'HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nHello', false],
  [
    'an old server that stays',
    'HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nHello',
    true,
  ],
  ['more than was asked for', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello again', false],
  ['bare line feeds', 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nHello\n0\n\n', true],
  [
    'word before the answer',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200\r\nContent-Length: 5\r\n\r\nHello',
    true,
  ],
])('a body with %s is read however it is cut', (_, text, mayGoOn) => {
  const expected = { body: 'Hello', isWhole: true, mayGoOn, head: expect.objectContaining({ status: 200 }) };
  expect(whole(text)).toEqual(expected);
  // Byte by byte the unrequested rest comes last, as it does in one piece.
  expect(hear(byteByByte(text))).toEqual(expected);
});

test.each([
  'HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
])('an answer without a body is over at once (%j)', (text) => {
  expect(whole(text)).toMatchObject({ body: '', isWhole: true, mayGoOn: true });
});

test('headers are read by name in lower case, joined when they come twice and unfolded', () => {
  const text =
    'HTTP/1.1 429 Too Many\r\nRetry-After:  7 \r\nX-A: one\r\nx-a: two\r\nLong: begins\r\n\t goes on\r\nEmpty:\r\n__proto__: p\r\nContent-Length: 0\r\n\r\n';
  const { head } = whole(text);
  expect(head?.status).toBe(429);
  expect(Object.entries(head?.headers ?? {})).toEqual([
    ['retry-after', '7'],
    ['x-a', 'one, two'],
    ['long', 'begins goes on'],
    ['empty', ''],
    ['__proto__', 'p'],
    ['content-length', '0'],
  ]);
});

test.each([
  ['SSH-2.0-OpenSSH_9.2', 'does not begin with an HTTP status'],
  ['HTTP/2 200\r\n\r\n', 'does not begin with an HTTP status'],
  ['HTTP/1.1 OK\r\n\r\n', 'does not begin with an HTTP status'],
  ['HTTP/1.1 200 OK\r\nno colon\r\n\r\n', 'not of the form `Name: value`'],
  ['HTTP/1.1 200 OK\r\nspaced name: 1\r\n\r\n', 'not of the form `Name: value`'],
  ['HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n', 'its length is not a number'],
  ['HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n', 'its length is not a number'],
  ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n', 'its length is not a number'],
  ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nHello\r\n', 'a chunk of it has no size'],
  ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n', 'a chunk of it has no size'],
  ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n', 'a chunk of it has no size'],
  ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nHello\r\n', 'longer than it says'],
  [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(65 * 1024)}`, 'its head is longer than 65536 bytes'],
])('what is not HTTP is refused: %j', (text, flaw) => {
  expect(() => whole(text)).toThrow(flaw);
  expect(() => whole(text)).toThrow(HttpError);
});

test.each([
  'HTTP/1.1 200 OK\r\nContent-Le',
  'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nHello',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n',
])('an answer that ends too early is not taken for a whole one: %j', (text) => {
  expect(() => whole(text)).toThrow('closed before the answer was complete');
});

const body = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
const cuts = fc.array(fc.nat({ max: 40 }), { maxLength: 60 });

function cut(bytes: Buffer, sizes: readonly number[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...pieces, bytes.subarray(at)];
}

test('any body comes through, in chunks or with its length, cut anywhere', () => {
  fc.assert(
    fc.property(body, cuts, cuts, fc.boolean(), (bytes, chunks, reads, isChunked) => {
      const coded = cut(bytes, chunks)
        .filter((chunk) => chunk.length > 0)
        .map((chunk) =>
          Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]),
        );
      const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes.length}`;
      const sent = Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`),
        ...(isChunked ? [...coded, Buffer.from('0\r\n\r\n')] : [bytes]),
      ]);
      expect(hear(cut(sent, reads))).toMatchObject({
        body: bytes.toString('latin1'),
        isWhole: true,
        mayGoOn: true,
      });
    }),
  );
});

test('whatever a service sends is an answer or a clear error', () => {
  const beginning = fc.constantFrom(
    '',
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  fc.assert(
    fc.property(beginning, body, cuts, (start, bytes, reads) => {
      try {
        hear(cut(Buffer.concat([Buffer.from(start), bytes]), reads));
      } catch (error) {
        expect((error as Error).message).toMatch(/not HTTP: |before the answer was complete$/);
      }
    }),
  );
});
