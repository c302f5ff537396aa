import { randomUUID } from 'node:crypto';
import type { Channel } from '@groundcrew/rpc';
import { afterAll, describe, expect, test } from 'vitest';
import { all, channelContract, note, take } from '../../rpc/test/channel-contract.js';
import { Links, NodeUnreachable } from '../src/links.js';
import { busOf, natsForTests } from './world.js';

const server = await natsForTests();
afterAll(() => server?.close());

/** Two nodes, and a channel from one to the other. */
async function ends(serve: (channel: Channel) => Promise<unknown> = async () => undefined) {
  if (!server) throw new Error('There is no NATS');
  const buses = await Promise.all([busOf(server), busOf(server)]);
  const addresses = [randomUUID(), randomUUID()] as const;
  const accepted: Channel[] = [];
  let arrived: () => void = () => undefined;
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const left = new Links({ bus: buses[0], address: addresses[0], accept: async () => undefined });
  const right = new Links({
    bus: buses[1],
    address: addresses[1],
    accept: async (channel) => {
      accepted.push(channel);
      arrived();
      await serve(channel);
    },
  });
  const node = { runtimeId: 'right', address: addresses[1], labels: [], providers: [] };
  const clientId = randomUUID();
  const open = () => left.open(node, { clientId, client: {} });
  await Promise.all(buses.map((bus) => bus.subscribed()));
  const channel = await open();
  await arrival;
  const close = async () => {
    await Promise.all([left.close(), right.close()]);
    await Promise.all(buses.map((bus) => bus.close()));
  };
  return { left: channel, right: accepted[0] as Channel, accepted, open, close, leftLinks: left };
}

describe.skipIf(!server)('a channel over NATS', () => {
  channelContract(() => ends());

  test('a message far over what NATS takes at once arrives whole, and others behind it', async () => {
    const { left, right, close } = await ends();
    const long = note('é'.repeat(3 * 1024 * 1024));
    left.send(long);
    left.send(note('after'));
    const [first, second] = await take(right, 2);
    expect(JSON.stringify(first) === JSON.stringify(long)).toBe(true);
    expect(second).toEqual(note('after'));
    await close();
  });

  test('a node that says nothing is not waited for once it lives no more', async () => {
    if (!server) return;
    const bus = await busOf(server);
    const address = randomUUID();
    const asked = new Promise<void>((resolve) =>
      bus.subscribe(`${address}.open`, () => {
        resolve();
        return undefined;
      }),
    );
    await bus.subscribed();
    const links = new Links({ bus, address: randomUUID(), accept: async () => undefined });
    const node = { runtimeId: 'silent', address, labels: [], providers: [] };
    const opening = links.open(node, { clientId: randomUUID(), client: {} });
    const refused = expect(opening).rejects.toBeInstanceOf(NodeUnreachable);
    await asked;
    const began = performance.now();
    links.keepOnly(new Set());
    await refused;
    expect(performance.now() - began).toBeLessThan(1_000);
    await links.close();
    await bus.close();
  });

  test('a client that opens a link again takes the place of its old one, which ends at both sides', async () => {
    const received: unknown[] = [];
    const { left, open, close } = await ends(async (channel) => {
      for await (const message of channel.messages) received.push(message);
      received.push('end');
    });
    left.send(note('old'));
    await expect.poll(() => received).toEqual([note('old')]);
    const again = await open();
    expect(await all(left)).toEqual([]);
    again.send(note('new'));
    await expect.poll(() => received).toEqual([note('old'), 'end', note('new')]);
    await close();
  });

  test('a node that does not exist cannot be reached, and that is known at once', async () => {
    const { leftLinks, close } = await ends();
    const nobody = { runtimeId: 'nobody', address: randomUUID(), labels: [], providers: [] };
    const began = performance.now();
    await expect(leftLinks.open(nobody, { clientId: 'c', client: {} })).rejects.toThrow(NodeUnreachable);
    expect(performance.now() - began).toBeLessThan(2_000);
    await close();
  });

  test('links to nodes that no longer live are broken', async () => {
    const { left, leftLinks, close } = await ends();
    leftLinks.keepOnly(new Set());
    expect(await all(left)).toEqual([]);
    expect(leftLinks.size).toBe(0);
    await close();
  });
});
