import { expect, test } from 'vitest';
import type { Channel } from '../src/channel.js';
import { FramingError } from '../src/errors.js';
import { encode, encodeRaw, type Message } from '../src/message.js';

/** Two ends of one channel, and what to take down afterwards. */
export interface ChannelEnds {
  readonly left: Channel;
  readonly right: Channel;
  close?(): Promise<void>;
}

/** What every Channel must keep, whatever lies between its ends. */
export function channelContract(open: () => Promise<ChannelEnds>): void {
  const contract = (name: string, body: (ends: ChannelEnds) => Promise<void>) =>
    test(name, async () => {
      const ends = await open();
      await body(ends);
      await Promise.all([ends.left.close(), ends.right.close()]);
      await ends.close?.();
    });

  contract(
    'what one end sends the other receives in order, in any alphabet, both ways',
    async ({ left, right }) => {
      const messages = [
        note(1),
        note('é€😀\u2028\0"\\'),
        note({ deep: [null, true, 1.5] }),
        note('\ud800 lone'),
      ];
      for (const message of messages) left.send(message);
      right.send(note('back'));
      expect(await take(right, messages.length)).toEqual(messages);
      expect(await take(left, 1)).toEqual([note('back')]);
    },
  );

  contract('a message arrives as the copy that JSON makes of it', async ({ left, right }) => {
    const params = { when: new Date(0), nothing: undefined, list: [undefined, Number.NaN] };
    left.send({ jsonrpc: '2.0', method: 'note', params });
    expect(await take(right, 1)).toStrictEqual([
      note({ when: '1970-01-01T00:00:00.000Z', list: [null, null] }),
    ]);
  });

  contract('an encoded message can be sent many times among others', async ({ left, right }) => {
    const shared = encode(note('shared ß'));
    left.send(shared);
    left.send(note('own'));
    left.send(shared);
    expect(await take(right, 3)).toEqual([note('shared ß'), note('own'), note('shared ß')]);
  });

  contract('raw text with lone surrogates does not shift what follows', async ({ left, right }) => {
    left.send(encodeRaw('{"jsonrpc":"2.0","method":"note","params":"\ud83d|\ude00"}'));
    left.send(note('after'));
    const [first, second] = await take(right, 2);
    expect(first).toMatchObject({ method: 'note' });
    expect(second).toEqual(note('after'));
  });

  contract('what is no message is thrown after the messages before it', async ({ left, right }) => {
    left.send(note('good'));
    left.send(encodeRaw('[]'));
    left.send(note('never seen'));
    const seen: Message[] = [];
    const reading = (async () => {
      for await (const message of right.messages) seen.push(message);
    })();
    await expect(reading).rejects.toThrow(FramingError);
    expect(seen).toEqual([note('good')]);
  });

  contract(
    'what JSON cannot hold is thrown at its sender and harms nothing else',
    async ({ left, right }) => {
      expect(() => left.send(note(1n))).toThrow(TypeError);
      left.send(note('next'));
      expect(await take(right, 1)).toEqual([note('next')]);
    },
  );

  contract('close hands over what was queued, then both ends see the end', async ({ left, right }) => {
    const sent = Array.from({ length: 2000 }, (_, index) => note(index));
    for (const message of sent) left.send(message);
    const received = all(right).finally(() => right.close());
    await left.close();
    expect(await received).toEqual(sent);
    expect(await all(left)).toEqual([]);
  });

  contract('after close nothing is sent, nothing thrown, and no caller waits', async ({ left, right }) => {
    await Promise.all([left.close(), right.close()]);
    await left.close();
    expect([left.send(note(1)), left.send(note(1n)), left.queuedBytes]).toEqual([false, false, 0]);
    await left.drained();
  });

  contract(
    'a peer that does not read makes send ask to hold back, and reading lets it go on',
    async (ends) => {
      const { left, right } = ends;
      const filler = encode(note('x'.repeat(100_000)));
      let sent = 1;
      while (left.send(filler)) {
        sent += 1;
        if (sent % 10 === 0) await nextTurn();
      }
      const queued = left.queuedBytes;
      expect(queued).toBeGreaterThan(1024 * 1024);
      expect(queued).toBeLessThan(1024 * 1024 + 2 * filler.byteLength);
      const drained = left.drained();
      expect((await take(right, sent)).length).toBe(sent);
      await drained;
      expect(left.send(note('more'))).toBe(true);
    },
  );

  contract('messages may be iterated once', async ({ left, right }) => {
    left.send(note(1));
    expect(await take(right, 1)).toEqual([note(1)]);
    expect(() => right.messages[Symbol.asyncIterator]()).toThrow('once');
  });
}

/** A notification to send about. */
export function note(params: unknown): Message {
  return { jsonrpc: '2.0', method: 'note', params };
}

/** Reads so many messages and leaves the channel open. */
export async function take(channel: Channel, count: number): Promise<Message[]> {
  const iterator = channel.messages[Symbol.asyncIterator]();
  const taken: Message[] = [];
  while (taken.length < count) {
    const result = await iterator.next();
    if (result.done === true) break;
    taken.push(result.value);
  }
  return taken;
}

/** Reads to the end. */
export async function all(channel: Channel): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const message of channel.messages) messages.push(message);
  return messages;
}

/** Lets the event loop do what is due. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
