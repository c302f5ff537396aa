import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { methods, neededRoles } from '@groundcrew/protocol';
import { say, type WireClient } from '@groundcrew/testkit';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, test as anyTest, beforeAll, expect } from 'vitest';
import { WebSocket } from 'ws';
import { until } from './mcp-world.js';
import { noSandbox } from './sandbox-world.js';
import { TenantsWorld, tokenOf } from './tenants-world.js';

if (noSandbox !== undefined)
  console.warn(`skipped, all tests of tenants, each of which runs in a box: ${noSandbox}`);
const test = anyTest.skipIf(noSandbox !== undefined);

const world = new TenantsWorld();
const secret = 'the word that only acme knows';
const shared = join(world.home.path, 'shared');
/** On a slow machine a call for a title would take one of the scripted answers. */
const untitled = { titles: 'prompt' };
const webhookSecret = join(shared, 'webhook-secret');
let issuer: Awaited<ReturnType<typeof openIssuer>>;
let mia: WireClient;
let bob: WireClient;
let olga: WireClient;

beforeAll(async () => {
  issuer = await openIssuer();
  mkdirSync(shared);
  writeFileSync(join(shared, 'for-all'), 'shared with beta');
  writeFileSync(webhookSecret, `whsec_${Buffer.alloc(32, 'signs').toString('base64')}`, { mode: 0o600 });
  world.settings = {
    tenants: {
      beta: { readOnly: [shared] },
      small: { quotas: { sessions: 1, tokensPerDay: 5 } },
      notified: { webhooks: [{ url: 'http://127.0.0.1:9', secretFile: webhookSecret }] },
      narrow: { quotas: { concurrentTurns: 1 } },
    },
    jwt: [
      {
        issuer: 'https://id.example',
        audience: 'groundcrew',
        jwks: issuer.jwks,
        tenantClaim: 'org.name',
        roles: { viewer: 'observer', dev: 'member' },
      },
    ],
  };
  world.tokens({
    mia: ['acme', 'member'],
    ada: ['acme', 'admin'],
    olga: ['acme', 'observer'],
    bob: ['beta', 'admin'],
    op: ['default', 'admin'],
    temp: ['acme', 'member'],
    sam: ['small', 'member'],
    nan: ['narrow', 'member'],
  });
  await world.start([
    say(`I keep it: ${secret}`),
    say('Again'),
    say('Enough'),
    { type: 'after', ready: new Promise(() => undefined), reply: say('Never') },
  ]);
  [mia, bob, olga] = (await Promise.all(
    ['mia', 'bob', 'olga'].map((name) => world.client(tokenOf(name))),
  )) as [WireClient, WireClient, WireClient];
}, 60_000);

afterAll(async () => {
  await world.stop();
  issuer.close();
});

test('a tenant finds nothing of another by any method, event, list or path, and reads what it would of an unknown id', async () => {
  const acme = await mia.create({ sessionId: 'of-acme', ...untitled });
  await acme.turn(`Remember ${secret}`);
  const home = join(world.home.path, 'tenants', 'acme', 'home');
  const aimedAt = (sessionId: string) => ({
    sessionId,
    sessionIds: [sessionId],
    prefix: sessionId,
    query: secret,
    path: join(home, 'groundcrew.db'),
    projectPaths: [home],
    skillDirectories: [home],
    workingDirectory: home,
    configDir: home,
    from: sessionId,
    name: 'x',
    kind: 'resume',
    sessions: [{ sessionId }],
    context: {},
    requestId: 'r',
    command: 'true',
    prompt: 'x',
  });
  // What takes no id of a session, and would change the tenant's own things or wait for a network.
  const ownAffairs =
    /^(?:connect|session\.create|plugins\.|account\.|mcp\.config|user\.|skills\.config|llmInference|sessionFs|secrets)/;
  for (const method of Object.keys(methods).filter((each) => !ownAffairs.test(each))) {
    const theirs = JSON.stringify(await bob.failure(method, aimedAt('of-acme')));
    const unknown = JSON.stringify(await bob.failure(method, aimedAt('of-none')));
    const plain = (text: string) => text.replace(/"timestamp":"[^"]*"/g, '').replaceAll('of-acme', 'of-none');
    expect([method, plain(theirs)]).toEqual([method, plain(unknown)]);
    expect(theirs.replaceAll(JSON.stringify(secret).slice(1, -1), '')).not.toContain('I keep it');
  }
  // The same id is another session there.
  const ring =
    process.arch === 'x64' ? `perl -e 'print syscall(250, 1, 0) < 0 ? "no ring: $!" : "ring"'` : 'true';
  const beta = await bob.create({ sessionId: 'of-acme' });
  expect(JSON.stringify(await beta.call('session.getMessages'))).not.toContain(secret);
  expect(bob.frames.filter((frame) => JSON.stringify(frame).includes(secret))).toEqual([]);
  const read = await beta.call<{ output: string }>('session.shell.executeUserRequested', {
    requestId: 'r',
    command: `cat ${home}/groundcrew.db ${world.authFile}; ls ${world.home.path}/tenants; cat /proc/*/environ ${shared}/*; cat <&9; ${ring}; echo done`,
  });
  expect(read.output).toContain('done');
  expect(read.output).toContain('shared with beta');
  if (process.arch === 'x64') expect(read.output).toContain('no ring: Function not implemented');
  expect(read.output).not.toContain('whsec_');
  expect(read.output).not.toContain('sha256');
  expect(read.output).not.toContain(secret);
  expect(read.output).not.toContain('acme\n');
  expect(read.output).not.toContain('what no tenant is to read');
  expect(read.output).not.toContain(tokenOf('mia'));
  expect((await bob.failure('session.create', { workingDirectory: home })).message).toContain(
    'does not exist',
  );
  const { sessions } = await mia.call<{ sessions: { sessionId: string }[] }>('session.list');
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['of-acme']);
});

test('each method is refused to those whose role is too small, and only to them', async () => {
  const refused = async (client: WireClient) => {
    const outcomes = await Promise.all(
      Object.keys(methods)
        .filter((method) => neededRoles[method as keyof typeof neededRoles] !== 'observer')
        .map(async (method) => {
          const { data } = await client.failure(method, { sessionId: 'of-none', kind: 'none' });
          return (data as { code?: string } | undefined)?.code === 'forbidden' ? [method] : [];
        }),
    );
    return outcomes.flat();
  };
  const needing = (...roles: string[]) =>
    Object.entries(neededRoles)
      .filter(([, role]) => roles.includes(role))
      .map(([method]) => method)
      .sort();
  expect((await refused(olga)).sort()).toEqual(needing('member', 'admin', 'operator'));
  expect((await refused(bob)).sort()).toEqual(needing('operator'));
  expect(await mia.failure('mcp.config.list')).toEqual({
    code: -32603,
    message:
      'Request mcp.config.list failed with message: mcp.config.list needs the role admin, and this client is member',
    data: { code: 'forbidden', retryable: false },
  });
});

test('an observer receives events, answers nothing, and leaves the session as it is', async () => {
  const acme = await mia.resume('of-acme', untitled);
  const answer = await olga.call<{ warnings: string[] }>('session.resume', {
    sessionId: 'of-acme',
    requestPermission: true,
    tools: [{ name: 'spy', description: 'spies', parameters: {} }],
  });
  expect(answer.warnings).toEqual([
    "The option 'requestPermission' has no effect: this client is an observer.",
    "The option 'tools' has no effect: this client is an observer.",
  ]);
  await acme.turn('Once more');
  await olga.until(
    () => olga.events('of-acme').find(({ type }) => type === 'session.idle'),
    'the end of the turn',
  );
  const answering = 'session.permissions.handlePendingPermissionRequest';
  const refusal = await olga.failure(answering, {
    sessionId: 'of-acme',
    requestId: 'any',
    result: { kind: 'approve-once' },
  });
  expect(refusal).toMatchObject({ data: { code: 'forbidden' } });
  expect(await olga.call('session.destroy', { sessionId: 'of-acme' })).toEqual({ success: true });
  expect(await acme.call('session.metadata.isProcessing')).toEqual({ processing: false });
});

test('a login over HTTP has a line of audit with its address: requests of each tenant, and a WebSocket', async () => {
  const url = await world.url();
  const logins = () => world.audit().filter(({ event, door }) => event === 'login' && door === 'http');
  for (const name of ['bob', 'op'])
    await fetch(`${url}/events?session=none`, { headers: { authorization: `Bearer ${tokenOf(name)}` } });
  const socket = new WebSocket(`${url.replace('http', 'ws')}/rpc`, {
    headers: { authorization: `Bearer ${tokenOf('op')}` },
  });
  await once(socket, 'open');
  socket.close();
  await until(() => logins().length >= 3);
  const about = { door: 'http', address: '127.0.0.1' };
  for (const subject of ['bob', 'op'])
    expect(logins()).toContainEqual(expect.objectContaining({ subject, ...about }));
  expect(logins().map(({ address }) => address)).toEqual(logins().map(() => '127.0.0.1'));
});

test('logins, denials, approvals and deletions have a line of audit, and no line has a secret', async () => {
  const ada = await world.client(tokenOf('ada'));
  await ada.create({ sessionId: 'to-delete' });
  await ada.call('session.permissions.setMode', { sessionId: 'to-delete', mode: 'assisted' });
  await ada.call('session.delete', { sessionId: 'to-delete' });
  const stranger = await world.stranger();
  expect(await stranger.failure('session.list')).toMatchObject({ code: -32001 });
  expect(await stranger.failure('connect', { token: 'wrong-token' })).toMatchObject({ code: -32002 });
  await until(() => world.audit().some(({ event }) => event === 'delete'));
  const lines = world.audit().map(({ time, address, ...line }) => {
    expect(Date.parse(String(time))).toBeGreaterThan(0);
    return line;
  });
  const ofAda = { tenant: 'acme', role: 'admin', subject: 'ada' };
  expect(lines.filter(({ subject }) => subject === 'ada')).toEqual([
    { event: 'login', ...ofAda, door: 'tcp' },
    {
      event: 'approval',
      method: 'session.permissions.setMode',
      sessionId: 'to-delete',
      detail: 'assisted',
      ...ofAda,
    },
    { event: 'delete', method: 'session.delete', sessionId: 'to-delete', ...ofAda },
  ]);
  expect(lines).toContainEqual({ event: 'login_failed', door: 'tcp' });
  expect(lines).toContainEqual({
    event: 'denied',
    method: 'session.send',
    sessionId: 'of-none',
    tenant: 'acme',
    role: 'observer',
    subject: 'olga',
  });
  const text = readFileSync(join(world.home.path, 'audit.jsonl'), 'utf8');
  expect(text).not.toContain('token-of-');
  expect(text).not.toContain('wrong-token');
});

test('a JSON Web Token lets its tenant in until it expires; one that is forged, old or of another audience does not', async () => {
  const seconds = Math.floor(Date.now() / 1000);
  const good = { org: { name: 'acme' }, role: ['dev'], exp: seconds + 600 };
  const client = await world.client(await issuer.sign(good));
  expect(await client.call('session.getMetadata', { sessionId: 'of-acme' })).toMatchObject({
    session: { sessionId: 'of-acme' },
  });
  const unsigned = `${encoded({ alg: 'none' })}.${encoded({ ...issuer.claims, ...good })}.`;
  const bad: readonly string[] = [
    await issuer.sign({ ...good, exp: seconds - 60 }),
    await issuer.sign({ ...good, nbf: seconds + 60 }),
    await issuer.sign({ ...good, aud: 'another' }),
    await issuer.sign({ ...good, iss: 'https://evil.example' }),
    await issuer.sign({ ...good, org: { name: '../beta' } }),
    await issuer.sign({ ...good, role: ['root'] }),
    await issuer.sign({ org: good.org, role: 'dev' }),
    await issuer.forge(good),
    unsigned,
    `${unsigned}x`,
  ];
  for (const token of bad) {
    const stranger = await world.stranger();
    expect(await stranger.failure('connect', { token })).toMatchObject({ code: -32002 });
    // Wrong tokens in a row are answered ever later.
    await world.client(tokenOf('op'));
  }
  // Within the five seconds by which clocks may differ: it is let in, and has to leave at once.
  const brief = await world.client(await issuer.sign({ ...good, exp: seconds - 1 })).catch(() => undefined);
  await brief?.connection.closed;
  expect(await client.call('ping')).toMatchObject({ message: 'pong' });
});

test('over HTTP each token opens the events of its own tenant', async () => {
  const url = await world.url();
  const ask = async (name: string | undefined, path: string) => {
    const response = await fetch(`${url}${path}`, {
      headers: name === undefined ? {} : { authorization: `Bearer ${tokenOf(name)}` },
    });
    return [response.status, await response.text()] as const;
  };
  const events = '/events?session=of-acme&follow=0';
  const [status, text] = await ask('olga', events);
  expect(status).toBe(200);
  expect(text).toContain(secret);
  expect(await ask('op', events)).toEqual([404, 'There is no such session\n']);
  expect((await ask('bob', events))[1]).not.toContain(secret);
  expect((await ask('bob', '/requests?session=of-acme'))[1]).not.toContain(secret);
  expect((await ask(undefined, events))[0]).toBe(401);
});

test('a tenant that has used up what it may reads that, also after the server was killed', async () => {
  const quota = (message: string) => ({
    code: -32603,
    message: `Request ${message}`,
    data: { code: 'quota_exceeded', retryable: true },
  });
  const sam = await world.client(tokenOf('sam'));
  const session = await sam.create({ sessionId: 'of-small', ...untitled });
  expect(await sam.failure('session.create')).toEqual(
    quota(
      'session.create failed with message: The tenant has 1 sessions, and may have 1: delete some first.',
    ),
  );
  await session.turn('Spend');
  const over = await session.failure('session.send', { prompt: 'More' });
  expect(over).toMatchObject({ data: { code: 'quota_exceeded' } });
  expect(over.message).toMatch(/The tenant has used \d+ tokens today, and may use 5 a day \(UTC\)\.$/);
  const nan = await world.client(tokenOf('nan'));
  const [one, two] = [await nan.create(untitled), await nan.create()];
  await one.send('Hang');
  expect(await two.failure('session.send', { prompt: 'Too' })).toEqual(
    quota('session.send failed with message: The tenant has 1 turns at work, and may have 1 at once.'),
  );
  await one.call('session.abort');
  await world.process.signal('SIGKILL');
  await world.start();
  const again = await (await world.client(tokenOf('sam'))).resume('of-small');
  expect((await again.failure('session.send', { prompt: 'More' })).message).toBe(over.message);
  expect(world.audit()).toContainEqual(
    expect.objectContaining({ event: 'quota', tenant: 'small', subject: 'sam', method: 'session.create' }),
  );
  // Those of the other tests were connected to the server that was killed.
  [mia, bob] = [await world.client(tokenOf('mia')), await world.client(tokenOf('bob'))];
});

test('a token that is taken away or gets another role has to come in again at once', async () => {
  const temp = await world.client(tokenOf('temp'));
  world.tokens({
    mia: ['acme', 'observer'],
    bob: ['beta', 'admin'],
    op: ['default', 'admin'],
  });
  world.write();
  await Promise.all([temp.connection.closed, mia.connection.closed]);
  const gone = await world.stranger();
  expect(await gone.failure('connect', { token: tokenOf('temp') })).toMatchObject({ code: -32002 });
  const again = await world.client(tokenOf('mia'));
  expect(await again.failure('session.create')).toMatchObject({ data: { code: 'forbidden' } });
  expect(await bob.call('ping')).toMatchObject({ message: 'pong' });
  const audit = world.audit().map(({ event, subject, detail }) => [event, subject, detail]);
  expect(audit).toContainEqual(['role_changed', 'mia', 'member to observer']);
  expect(audit).toContainEqual(['revoked', 'temp', 'member to none']);
});

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Signs tokens, and shows its public keys over HTTP on this machine. */
async function openIssuer() {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' };
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [key] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const claims = { iss: 'https://id.example', aud: 'groundcrew', sub: 'someone' };
  const token = (given: object) => new SignJWT({ ...claims, ...given });
  return {
    claims,
    jwks: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
    sign: (given: object) => token(given).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey),
    /** Signs with what everyone can read. */
    forge: (given: object) =>
      token(given)
        .setProtectedHeader({ alg: 'HS256', kid: 'one' })
        .sign(new TextEncoder().encode(JSON.stringify(key))),
    close: () => server.close(),
  };
}
