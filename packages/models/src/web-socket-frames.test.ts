import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serverFrame, takeFrame } from '../test/socket-server.js';
import { clientFrame, ServerFrames } from './web-socket-frames.js';

test.each([0, 1, 125, 126, 65_535, 65_536, 70_000])('a message of %i bytes goes out as it is', (length) => {
  const data = Buffer.alloc(length, 'ä');
  const frame = clientFrame('text', data);
  expect(takeFrame(frame)).toEqual({ opcode: 1, data, size: frame.length });
});

test('messages come in as they were sent, however their bytes are cut', () => {
  const message = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 4 }), fc.integer({ min: 1, max: 400 }), (sent, size) => {
      const bytes = Buffer.concat(
        sent.flatMap((parts) =>
          parts.flatMap((part, i) => [
            serverFrame(i === 0 ? 2 : 0, Buffer.from(part), i === parts.length - 1),
            serverFrame(9, Buffer.from('ping')),
            serverFrame(10, Buffer.from('pong')),
          ]),
        ),
      );
      const frames = new ServerFrames();
      const received = [];
      for (let at = 0; at < bytes.length; at += size)
        received.push(...frames.read(bytes.subarray(at, at + size)));
      const messages = received.flatMap((each) => (each.type === 'message' ? [each.data] : []));
      expect(messages).toEqual(sent.map((parts) => Buffer.concat(parts)));
      expect(received.filter(({ type }) => type === 'ping')).toHaveLength(sent.flat().length);
    }),
  );
});

test('the end is told with its code, if it has one', () => {
  const read = (data: Buffer) => [...new ServerFrames().read(serverFrame(8, data))];
  expect(read(Buffer.from([0x03, 0xf3]))).toEqual([{ type: 'close', code: 1011 }]);
  expect(read(Buffer.alloc(0))).toEqual([{ type: 'close', code: undefined }]);
});

test.each([
  ['an extension that nobody agreed on', Buffer.from([0xc1, 0x00])],
  ['a masked frame', Buffer.from([0x81, 0x80, 0, 0, 0, 0])],
  ['a piece of nothing', Buffer.from([0x80, 0x00])],
  ['a message within another', Buffer.from([0x01, 0x00, 0x81, 0x00])],
  ['a frame of no known kind', Buffer.from([0x83, 0x00])],
  ['a frame that is too large', Buffer.from([0x82, 127, 0, 0, 0, 0xff, 0, 0, 0, 0])],
])('%s is a bad answer', (_, bytes) => {
  expect(() => [...new ServerFrames().read(bytes)]).toThrowError(
    expect.objectContaining({ kind: 'bad_response' }),
  );
});
