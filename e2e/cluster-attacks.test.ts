import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { methods } from '@groundcrew/protocol';
import { webSocketChannel } from '@groundcrew/rpc';
import { hold, providerOf, say, WireClient } from '@groundcrew/testkit';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { TenantNodes } from './cluster-tenants-world.js';
import { openClusterWorld } from './cluster-world.js';
import { until } from './mcp-world.js';
import { noSandbox } from './sandbox-world.js';
import { tokenOf } from './tenants-world.js';

const world = noSandbox === undefined ? await openClusterWorld() : undefined;
afterAll(() => world?.close());
const secret = 'the word that only acme knows';
const hanging = hold();

describe.skipIf(!world)('tenants of two nodes, and those who want more', { timeout: 120_000 }, () => {
  if (!world) return;
  let nodes: TenantNodes;
  let all: Awaited<ReturnType<TenantNodes['start']>>[];
  let issuer: Awaited<ReturnType<typeof openIssuer>>;
  let mia: WireClient;
  beforeAll(async () => {
    issuer = await openIssuer();
    const model = world.api.script(
      say(`I keep it: ${secret}`),
      ...Array.from({ length: 5 }, () => say('Yes')),
    );
    nodes = new TenantNodes(await world.postgres.newDatabase(), world.nats.url, model.baseUrl, {
      jwt: issuer.entries(),
      tenants: { priced: { quotas: { costPerDay: 0.000_001 } } },
    });
    all = await Promise.all([
      nodes.start(['--http-port', '0', '--metrics']),
      nodes.start(['--http-port', '0']),
    ]);
    mia = await nodes.client(all[0], 'mia');
    const ours = await mia.create({ sessionId: 'of-acme', workingDirectory: nodes.work });
    writeFileSync(join(nodes.work, 'plan.txt'), secret);
    await ours.turn(`Remember ${secret}`);
  }, 60_000);
  afterAll(async () => {
    hanging.release();
    issuer?.close();
    await nodes?.close();
  });

  test('each path of the door over HTTP shows a tenant its own, at both nodes, and the operator’s to the operator only', async () => {
    const [here, there] = [await nodes.url(all[0]), await nodes.url(all[1])];
    const ask = async (url: string, name: string) => {
      const response = await fetch(url, { headers: { authorization: `Bearer ${tokenOf(name)}` } });
      return [response.status, await response.text()] as const;
    };
    for (const base of [here, there])
      for (const path of ['/events?follow=0&', '/requests?', '/usage?', '/stored?']) {
        const [, theirs] = await ask(`${base}${path}session=of-acme`, 'bob');
        const [, unknown] = await ask(`${base}${path}session=of-none`, 'bob');
        expect(theirs.replaceAll('of-acme', 'of-none')).toBe(unknown);
        expect(theirs).not.toContain(secret);
        expect((await ask(`${base}${path}session=of-acme`, 'op'))[1]).not.toContain(secret);
      }
    expect((await ask(`${there}/events?session=of-acme&follow=0`, 'olga'))[1]).toContain(secret);
    expect((await ask(`${here}/metrics`, 'bob'))[0]).toBe(403);
    expect((await ask(`${here}/metrics`, 'op'))[0]).toBe(200);
    expect(nodes.audit(0)).toContainEqual(
      expect.objectContaining({
        event: 'denied',
        tenant: 'beta',
        subject: 'bob',
        door: 'http',
        method: '/metrics',
      }),
    );
    const shown = Buffer.from(tokenOf('olga')).toString('base64url');
    const socket = new WebSocket(`${there.replace('http', 'ws')}/rpc`, [
      'groundcrew',
      `groundcrew.token.${shown}`,
    ]);
    await new Promise((resolve) => socket.once('open', resolve));
    const olga = new WireClient(webSocketChannel({ socket }));
    const watched = await olga.resume('of-acme', {});
    expect(await watched.failure('session.send', { prompt: 'Me too' })).toMatchObject({
      data: { code: 'forbidden' },
    });
    await olga.connection.close();
  });

  test('tokens that are forged, of another time, place or type, or name a tenant that leads elsewhere open no node', async () => {
    const seconds = Math.floor(Date.now() / 1000);
    const good = { org: 'acme', role: 'member', exp: seconds + 600 };
    const bad: readonly string[] = [
      issuer.unsigned({ alg: 'none' }, good),
      issuer.unsigned({ alg: 'None', kid: 'one' }, good),
      await issuer.hmac(good),
      await issuer.sign(good, { kid: 'two' }),
      await issuer.sign(good, { kid: '../../etc/passwd' }),
      await issuer.sign(good, { kid: "one' OR '1'='1" }),
      await issuer.sign(good, { jku: 'http://127.0.0.1:1/jwks' }, 'stranger'),
      await issuer.embedded(good),
      await issuer.sign({ ...good, exp: seconds - 60 }),
      await issuer.sign({ ...good, exp: `${seconds + 600}` }),
      await issuer.sign({ ...good, nbf: seconds + 60 }),
      await issuer.sign({ ...good, aud: 'groundcrew2' }),
      await issuer.sign({ ...good, aud: ['another', 'groundcrew '] }),
      await issuer.sign({ ...good, iss: 'https://ID.example' }),
      await issuer.sign({ ...good, iss: ['https://id.example'] }),
      ...(await Promise.all(
        [
          ...['../x', '__proto__', 'ACME', 'Acme', 'acme ', 'acme\0', 'acme"; DROP SCHEMA x', ''],
          ...[
            'a'.repeat(41),
            'аcme',
            'groundcrew:beta',
            'default',
            ['acme'],
            { name: 'acme' },
            7,
            null,
            true,
          ],
        ].map((org) => issuer.sign({ ...good, org })),
      )),
      ...(await Promise.all(
        ['operator', 'Admin', { admin: true }, 1, [], ['x']].map((role) => issuer.sign({ ...good, role })),
      )),
      await issuer.sign({ ...good, more: 'x'.repeat(20_000) }),
    ];
    for (const [index, token] of bad.entries()) {
      const node = all[index % 2];
      const stranger = await nodes.stranger(node);
      const outcome = await stranger.failure('connect', { token });
      expect([index, outcome]).toEqual([index, expect.objectContaining({ code: -32002 })]);
      await stranger.connection.close();
      // Wrong tokens in a row are answered ever later.
      await (await nodes.client(node, 'op')).connection.close();
    }
    expect(nodes.audit(0).filter(({ event }) => event === 'login_failed').length).toBeGreaterThan(10);
    const lines = JSON.stringify([nodes.audit(0), nodes.audit(1)]);
    for (const token of bad.map((each) => each.split('.')[2]).filter((each) => each))
      expect(lines).not.toContain(token);
  });

  test('a token of a new key is believed at once, of a second audience too, and without the name of its key', async () => {
    const good = { org: 'acme', role: 'observer', exp: Math.floor(Date.now() / 1000) + 600 };
    const enter = async (token: string) => {
      const client = await nodes.stranger(all[1]);
      await client.call('connect', { token });
      expect(JSON.stringify(await client.call('session.list', {}))).toContain('of-acme');
    };
    await enter(await issuer.sign(good));
    await enter(await issuer.sign({ ...good, aud: 'second' }));
    issuer.rotate();
    await until(
      async () =>
        (
          await (
            await nodes.stranger(all[1])
          ).failure('connect', { token: await issuer.sign(good, {}, 'second') })
        ).result !== undefined,
    );
    await enter(await issuer.sign(good, { kid: undefined }, 'second'));
  });

  test('who came in by a signed token has to leave when the file gives it another role or none, and when a token is cut short', async () => {
    const exp = Math.floor(Date.now() / 1000) + 40 * 24 * 60 * 60;
    const enter = async (claims: object) => {
      const client = await nodes.stranger(all[0]);
      await client.call('connect', { token: await issuer.sign({ org: 'acme', exp, ...claims }) });
      return client;
    };
    const dev = await enter({ role: 'dev', sub: 'dora' });
    const viewer = await enter({ role: 'observer', sub: 'vera' });
    const second = await enter({ role: 'observer', sub: 'sepp', aud: 'second' });
    const [first] = issuer.entries();
    nodes.change({ jwt: [{ ...first, roles: { ...first?.roles, dev: 'observer' } }] });
    await Promise.all([dev.connection.closed, second.connection.closed]);
    expect(await viewer.call('ping')).toMatchObject({ message: 'pong' });
    const audit = nodes.audit(0).map(({ event, subject, detail }) => [event, subject, detail]);
    expect(audit).toContainEqual(['role_changed', 'dora', 'member to observer']);
    expect(audit).toContainEqual(['revoked', 'sepp', 'observer to none']);
    const nan = await nodes.client(all[0], 'nan');
    nodes.change({ jwt: issuer.entries(), expires: { nan: new Date(Date.now() + 2_500).toISOString() } });
    await nan.connection.closed;
    await until(() => nodes.audit(0).some(({ event, subject }) => event === 'logout' && subject === 'nan'));
    nodes.change({ jwt: issuer.entries() });
  });

  test('forks and other ways to make a session do not go round the quota, raced over both nodes', async () => {
    const clients = await Promise.all([nodes.client(all[0], 'sam'), nodes.client(all[1], 'sam')]);
    const [sam] = clients;
    const first = await sam.create({ sessionId: 'seed', ...providerOf(world.api.script(say('Sam'))) });
    await first.turn('Hello');
    const made = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => {
        const client = clients[index % 2] ?? sam;
        if (index % 3 === 0) return client.call('sessions.fork', { sessionId: 'seed' });
        if (index % 3 === 1) return client.call('session.create', {});
        return client.call('sessions.open', {
          kind: 'create',
          sessionId: 'seed',
          options: { sessionId: 'seed' },
        });
      }),
    );
    const { sessions } = await sam.call<{ sessions: unknown[] }>('session.list', { includeEmpty: true });
    expect(made.filter(({ status }) => status === 'fulfilled').length).toBe(1);
    expect(sessions.length).toBeLessThanOrEqual(2);
    expect(await sam.failure('sessions.fork', { sessionId: 'seed' })).toMatchObject({
      data: { code: 'quota_exceeded' },
    });
  });

  test('no method begins a second turn of a tenant that may have one at once', async () => {
    const [nan, nan2] = await Promise.all([nodes.client(all[0], 'nan'), nodes.client(all[1], 'nan')]);
    const [one, two] = [
      await nan.create({ sessionId: 'busy', ...providerOf(world.api.script(hanging.reply)) }),
      await nan2.create({ sessionId: 'idle' }),
    ];
    await one.send('Hang');
    const starting: Readonly<Record<string, object>> = {
      'session.send': { prompt: 'x' },
      'session.sendAndWait': { prompt: 'x' },
      'session.sendMessages': { messages: [{ prompt: 'x' }] },
      'session.queue.insertAt': { position: 0, message: { prompt: 'x' } },
      'session.queue.setDrainPaused': { paused: false },
      'session.commands.enqueue': { command: 'x' },
      'session.commands.invoke': { name: 'x' },
      'session.fleet.start': { prompt: 'x' },
      'session.history.compact': {},
      'session.history.summarizeForHandoff': {},
      'session.tasks.startAgent': { agentType: 'x', prompt: 'x', name: 'x', description: 'x' },
      'session.tasks.sendMessage': { id: 'x', message: 'x' },
      'session.factory.run': { name: 'x' },
      'session.factory.resume': { runId: 'x' },
      'session.workflow.run': { name: 'x' },
      'session.workflow.resume': { runId: 'x' },
      'session.ui.ephemeralQuery': { question: 'x' },
    };
    for (const [method, params] of Object.entries(starting))
      expect([method, await two.failure(method, params)]).toEqual([
        method,
        expect.objectContaining({ data: { code: 'quota_exceeded', retryable: true } }),
      ]);
    hanging.release();
    await one.next('session.idle');
  });

  test('money of a day is counted over both nodes, and each refusal has a line of audit', async () => {
    const [pia, pia2] = await Promise.all([nodes.client(all[0], 'pia'), nodes.client(all[1], 'pia')]);
    const unpriced = await pia.create({ model: 'scripted' });
    await unpriced.send('What does it cost?');
    expect((await unpriced.next('session.error')).data.message).toContain(
      'what the model scripted costs is not known',
    );
    await (await pia.create({ model: 'gpt-4o' })).turn('Spend');
    const over = await (await pia2.create({ model: 'gpt-4o' })).failure('session.send', { prompt: 'More' });
    expect(over).toMatchObject({ data: { code: 'quota_exceeded', retryable: true } });
    expect(over.message).toMatch(
      /The tenant has used \$0\.\d{4} today, and may use \$0\.000001 a day \(UTC\)\.$/,
    );
    const quota = (index: number) =>
      nodes.audit(index).filter(({ event, tenant }) => event === 'quota' && tenant === 'priced');
    await until(() => quota(0).length === 1 && quota(1).length === 1);
    expect(quota(0)[0]).toMatchObject({ detail: expect.stringContaining('is not known') });
    expect(quota(1)[0]).toMatchObject({ subject: 'pia', method: 'session.send' });
  });

  test('no method of the wire reveals to another tenant, at any node, that a session exists', async () => {
    const aimedAt = (sessionId: string) => ({
      ...{
        sessionId,
        sessionIds: [sessionId],
        prefix: sessionId,
        from: sessionId,
        sessions: [{ sessionId }],
      },
      ...{ query: secret, path: nodes.work, projectPaths: [nodes.work], skillDirectories: [nodes.work] },
      ...{ workingDirectory: nodes.work, configDir: nodes.work, context: { cwd: nodes.work } },
      ...{ name: 'x', kind: 'resume', requestId: 'r', command: 'true', prompt: 'x', runId: 'r', id: 'i' },
      ...{ mode: 'plan', enabled: true, messages: [{ prompt: 'x' }], message: 'x', text: 'x' },
    });
    // What takes no id of a session, and would change the tenant's own things or wait for a network.
    const ownAffairs =
      /^(?:connect|session\.create|plugins\.|account\.|mcp\.config|user\.|skills\.config|llmInference|sessionFs|secrets|runtime\.shutdown)/;
    const replyTo = async (client: WireClient, method: string, sessionId: string) =>
      JSON.stringify(await client.failure(method, aimedAt(sessionId)))
        .replace(/"timestamp":"[^"]*"/g, '')
        .replaceAll('of-acme', 'of-none');
    for (const client of await Promise.all([nodes.client(all[0], 'bob'), nodes.client(all[1], 'op')])) {
      for (const method of Object.keys(methods).filter((each) => !ownAffairs.test(each))) {
        const [theirs, unknown] = await Promise.all([
          replyTo(client, method, 'of-acme'),
          replyTo(client, method, 'of-none'),
        ]);
        expect([method, theirs]).toEqual([method, unknown]);
      }
      const frames = JSON.stringify(client.frames);
      expect(frames).not.toContain('I keep it');
      expect(client.order().filter((line) => line.startsWith('lifecycle'))).toEqual([]);
    }
  });
});

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Signs tokens of several kinds; its public keys are at an address of this machine. */
async function openIssuer() {
  const make = () => generateKeyPair('RS256', { extractable: true });
  const pairs = { one: await make(), second: await make(), stranger: await make() };
  const publicOf = async (kid: 'one' | 'second') => ({
    ...(await exportJWK(pairs[kid].publicKey)),
    ...{ kid, alg: 'RS256' },
  });
  const known = [await publicOf('one')];
  const later = await publicOf('second');
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: known }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const jwks = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
  const claims = { iss: 'https://id.example', aud: 'groundcrew', sub: 'someone' };
  const roles = { member: 'member', observer: 'observer', dev: 'member' };
  const entry = { issuer: claims.iss, audience: claims.aud, jwks, tenantClaim: 'org', roles };
  const token = (given: object) => new SignJWT({ ...claims, ...given });
  return {
    entries: () => [entry, { ...entry, audience: 'second' }],
    sign: (given: object, header: object = {}, key: keyof typeof pairs = 'one') =>
      token(given)
        .setProtectedHeader({ alg: 'RS256', ...(key !== 'stranger' && { kid: key }), ...header })
        .sign(pairs[key].privateKey),
    /** Signs with what everyone can read. */
    hmac: async (given: object) =>
      token(given)
        .setProtectedHeader({ alg: 'HS256', kid: 'one' })
        .sign(new TextEncoder().encode(JSON.stringify(known[0]))),
    /** Brings its own key along. */
    embedded: async (given: object) =>
      token(given)
        .setProtectedHeader({ alg: 'RS256', jwk: await exportJWK(pairs.stranger.publicKey) })
        .sign(pairs.stranger.privateKey),
    unsigned: (header: object, given: object) => `${encoded(header)}.${encoded({ ...claims, ...given })}.x`,
    rotate: () => void known.push(later),
    close: () => server.close(),
  };
}
