import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Authenticator } from './authenticator.js';

const minute = 60_000;
const makePair = () => generateKeyPair('ES256', { extractable: true });
const pairs = { one: await makePair(), two: await makePair() };
type KeyName = keyof typeof pairs;
const publicKeys = {
  one: { ...(await exportJWK(pairs.one.publicKey)), kid: 'one', alg: 'ES256' },
  two: { ...(await exportJWK(pairs.two.publicKey)), kid: 'two', alg: 'ES256' },
};

let home: string;
let server: Server;
let port = 0;
let asked = 0;
let answer: { readonly status?: number; readonly body: string; readonly location?: string };

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'groundcrew-keys-'));
  asked = 0;
  answer = shown('one');
  server = createServer((_request, response) => {
    asked += 1;
    const { status = 200, body, location } = answer;
    response.writeHead(status, location === undefined ? {} : { location }).end(body);
  });
  await open(0);
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
});

afterEach(async () => {
  vi.useRealTimers();
  await shut();
  rmSync(home, { recursive: true });
});

test('keys at an address that is down, or shows nonsense, serve for an hour, also when the file is changed meanwhile', async () => {
  const authenticator = await openFile();
  expect(await enters(authenticator, 'one')).toBe(true);
  const nonsense: readonly (typeof answer)[] = [
    { status: 500, body: 'down' },
    { body: 'no JSON' },
    { body: '{"keys": 7}' },
    { body: '[]' },
    { status: 302, body: '', location: `http://127.0.0.1:${port}/elsewhere` },
  ];
  for (const each of nonsense) {
    answer = each;
    vi.advanceTimersByTime(2 * minute);
    expect([each, await enters(authenticator, 'one')]).toEqual([each, true]);
  }
  await shut();
  write({ defaults: { quotas: { sessions: 7 } } });
  authenticator.refresh();
  expect(authenticator.tenant('acme').quotas).toEqual({ sessions: 7 });
  expect(await enters(authenticator, 'one')).toBe(true);
  expect(await enters(authenticator, 'two')).toBe(false);
  vi.advanceTimersByTime(61 * minute);
  expect(await enters(authenticator, 'one')).toBe(false);
  answer = shown('one', 'two');
  await open(port);
  expect(await enters(authenticator, 'two')).toBe(true);
});

test('a key that was removed at its address is believed for a minute, a new one at once, and an unknown one is asked for once a second', async () => {
  const authenticator = await openFile();
  expect(await enters(authenticator, 'one')).toBe(true);
  answer = shown('two');
  vi.advanceTimersByTime(30_000);
  expect(await enters(authenticator, 'one')).toBe(true);
  vi.advanceTimersByTime(31_000);
  expect(await enters(authenticator, 'one')).toBe(false);
  expect(await enters(authenticator, 'two')).toBe(true);
  answer = shown('one', 'two');
  vi.advanceTimersByTime(1_100);
  expect(await enters(authenticator, 'one')).toBe(true);
  vi.advanceTimersByTime(1_100);
  const before = asked;
  const unknown = async () => authenticator.authenticate(await tokenBy('one', { kid: 'three' }));
  expect(await Promise.all(Array.from({ length: 20 }, unknown))).toEqual(
    Array.from({ length: 20 }, () => undefined),
  );
  expect(asked).toBe(before + 1);
});

test('keys of an issuer that is taken out of the file are believed no more', async () => {
  const authenticator = await openFile();
  expect(await enters(authenticator, 'one')).toBe(true);
  write({ jwt: [] });
  authenticator.refresh();
  expect(await enters(authenticator, 'one')).toBe(false);
});

function shown(...names: readonly KeyName[]): typeof answer {
  return { body: JSON.stringify({ keys: names.map((name) => publicKeys[name]) }) };
}

async function open(at: number): Promise<void> {
  await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
}

async function shut(): Promise<void> {
  server.closeAllConnections();
  if (server.listening) await new Promise((resolve) => server.close(resolve));
}

function write(more: object = {}): void {
  const jwks = `http://127.0.0.1:${port}/jwks`;
  const jwt = [{ issuer: 'https://id.example', audience: 'groundcrew', jwks }];
  writeFileSync(join(home, 'auth.json'), JSON.stringify({ jwt, ...more }), { mode: 0o600 });
}

function openFile(): Promise<Authenticator> {
  write();
  return Authenticator.open(join(home, 'auth.json'), (message) => expect(message).toBe(''));
}

function tokenBy(key: KeyName, header: object = {}): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + 600;
  return new SignJWT({ iss: 'https://id.example', aud: 'groundcrew', tenant: 'acme', role: 'member', exp })
    .setProtectedHeader({ alg: 'ES256', kid: key, ...header })
    .sign(pairs[key].privateKey);
}

async function enters(authenticator: Authenticator, key: KeyName): Promise<boolean> {
  return (await authenticator.authenticate(await tokenBy(key))) !== undefined;
}
