import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '@groundcrew/store-sqlite';
import { say } from '@groundcrew/testkit';
import { afterEach, test as anyTest, beforeEach, expect } from 'vitest';
import { until } from './mcp-world.js';
import { noSandbox } from './sandbox-world.js';
import { TenantsWorld, tokenOf } from './tenants-world.js';
import { faultOf, newSecret, Receiver } from './webhooks-world.js';

if (noSandbox !== undefined)
  console.warn(`skipped, all tests of webhooks of tenants, each of which runs in a box: ${noSandbox}`);
const test = anyTest.skipIf(noSandbox !== undefined);

let world: TenantsWorld;
let receiver: Receiver;
let secrets: { readonly acme: string; readonly beta: string };
const outboxOf = (tenant: string) => join(world.home.path, 'tenants', tenant, 'webhooks.db');

beforeEach(async () => {
  world = new TenantsWorld();
  receiver = new Receiver();
  await receiver.open();
  secrets = { acme: newSecret(), beta: newSecret() };
  const hookOf = (tenant: 'acme' | 'beta') => {
    const secretFile = join(world.home.path, `${tenant}-secret`);
    writeFileSync(secretFile, secrets[tenant], { mode: 0o600 });
    return { url: receiver.url(`/${tenant}`), secretFile, timeout: 1 };
  };
  world.settings = {
    tenants: { acme: { webhooks: [hookOf('acme')] }, beta: { webhooks: [hookOf('beta')] } },
  };
  world.tokens({ mia: ['acme', 'member'], bob: ['beta', 'member'], cat: ['quiet', 'member'] });
});

afterEach(async () => {
  await world.stop();
  await receiver.close();
});

test('each tenant gets webhooks of its own sessions only, and none of them finds what signs', async () => {
  await world.start([say('One'), say('Two'), say('Three')]);
  const [mia, bob, cat] = await Promise.all(['mia', 'bob', 'cat'].map((name) => world.client(tokenOf(name))));
  const session = await mia?.create({ sessionId: 'same-id' });
  await session?.turn('Hello');
  await (await bob?.create({ sessionId: 'same-id' }))?.turn('Hello');
  await (await cat?.create({ sessionId: 'same-id' }))?.turn('Hello');
  await receiver.got(2);
  const messages = receiver.received.map((each) => [each.path, each.message.type, each.message.data.tenant]);
  expect(messages.sort()).toEqual([
    ['/acme', 'session.ended', 'acme'],
    ['/beta', 'session.ended', 'beta'],
  ]);
  for (const each of receiver.received) {
    const [own, other] = each.path === '/acme' ? [secrets.acme, secrets.beta] : [secrets.beta, secrets.acme];
    expect(faultOf(each, { secret: own })).toBeUndefined();
    expect(faultOf(each, { secret: other })).toBe('forged');
  }
  const read = await session?.call<{ output: string }>('session.shell.executeUserRequested', {
    requestId: 'r',
    command: `cat ${world.home.path}/*-secret ${outboxOf('acme')} ${outboxOf('beta')}; cat /proc/*/environ; echo done`,
  });
  expect(read?.output).toContain('done');
  expect(read?.output).not.toMatch(/whsec_|session\.ended/);
}, 60_000);

test('messages that waited when the server was killed are sent by the next one, before any client comes', async () => {
  await world.start([say('One'), say('Two')]);
  const [mia, bob] = await Promise.all(['mia', 'bob'].map((name) => world.client(tokenOf(name))));
  const window = await bob?.create({ sessionId: 'window' });
  const database = openDatabase(outboxOf('beta'));
  database.exec('BEGIN IMMEDIATE');
  receiver.answer = () => undefined;
  await (await mia?.create({ sessionId: 'unanswered' }))?.turn('Hello');
  await window?.turn('Hello');
  await receiver.got(1);
  await world.process.signal('SIGKILL');
  database.exec('ROLLBACK');
  database.close();
  const before = receiver.received.length;
  receiver.answer = (_received, response) => void response.writeHead(204).end();
  await world.start();
  await until(() => receiver.story('window').length > 0 && receiver.received.length > before + 1);
  expect(receiver.story('window')).toEqual(['session.ended completed']);
  const ids = receiver.received
    .filter(({ message }) => message.data.sessionId === 'unanswered')
    .map(({ headers }) => headers['webhook-id']);
  expect(ids.length).toBeGreaterThan(1);
  expect(new Set(ids).size).toBe(1);
}, 60_000);

test('a mistake in what is set is found before a port is open', async () => {
  writeFileSync(join(world.home.path, 'acme-secret'), 'short', { mode: 0o600 });
  await world.start().catch(() => undefined);
  await world.process.exited;
  expect(world.process.stderr).toContain('expected whsec_ and 24 to 64 bytes in base64');
});
