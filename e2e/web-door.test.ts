import { once } from 'node:events';
import { connect } from 'node:net';
import { Connection } from '@groundcrew/rpc';
import { approveAll, Client, RuntimeConnection, type SessionEvent } from '@groundcrew/sdk';
import { callTools, say, streamChunks } from '@groundcrew/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { until } from './mcp-world.js';
import { bearer, token, tokenProtocol, WebWorld } from './web-world.js';

const replies = [
  say('Hello from the socket'),
  callTools({ id: 'c1', name: 'bash', arguments: { command: 'echo made', description: 'x' } }),
  say('It is made'),
];
const world = new WebWorld([...replies, say('three'), say('four'), say('five'), say('six')]);

beforeAll(() => world.start());
afterAll(() => world.stop());

describe('sessions over a WebSocket', () => {
  test('a client of the SDK works as on a port: turns, tools and deltas', async () => {
    await using client = world.client();
    const session = await client.createSession({
      sessionId: 'by-socket',
      streaming: true,
      onPermissionRequest: approveAll,
    });
    let streamed = '';
    session.on('assistant.message_delta', ({ data }) => {
      streamed += data.deltaContent;
    });
    expect((await session.sendAndWait('Hello'))?.data.content).toBe('Hello from the socket');
    expect(streamed).toBe('Hello from the socket');
    expect((await session.sendAndWait('Make it'))?.data.content).toBe('It is made');
  });

  test('the token may come in the first message instead; until then nothing else answers', async () => {
    const channel = await world.channel({ protocols: ['groundcrew'] });
    const connection = new Connection(channel, { onRequest: () => Promise.reject(new Error('no')) });
    await expect(connection.request('session.list', {})).rejects.toThrow('AUTHENTICATION_REQUIRED');
    await connection.request('connect', { token });
    expect(await connection.request('ping', { message: 'x' })).toMatchObject({ message: 'pong: x' });
    await connection.close();
  });

  test('a wrong token, another origin and another name of this machine get no socket', async () => {
    const { port } = new URL(world.url);
    const own = `http://127.0.0.1:${port}`;
    expect({
      wrong: await world.refusal({ protocols: ['groundcrew', tokenProtocol('wrong')] }),
      wrongHeader: await world.refusal({ protocols: [], headers: { authorization: 'Bearer wrong' } }),
      origin: await world.refusal({ headers: { origin: 'https://evil.example' } }),
      nullOrigin: await world.refusal({ headers: { origin: 'null' } }),
      otherPort: await world.refusal({ headers: { origin: 'http://127.0.0.1:1' } }),
      host: await world.refusal({ headers: { host: `rebound.example:${port}` } }),
      own: await world.refusal({ headers: { origin: own } }),
      header: await world.refusal({ protocols: [], headers: bearer }),
    }).toEqual({
      wrong: 401,
      wrongHeader: 401,
      origin: 403,
      nullOrigin: 403,
      otherPort: 403,
      host: 403,
      own: 'accepted',
      header: 'accepted',
    });
  });

  test('a path that is none gets no socket', async () => {
    const socket = new WebSocket(`${world.url.replace('http', 'ws')}/else`, { headers: bearer });
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(response.statusCode).toBe(404);
    socket.on('error', () => undefined).terminate();
  });

  test('bytes, and messages that are too long before the token or after it, end one socket and no other', async () => {
    const ends = async (protocols: readonly string[], send: (socket: WebSocket) => void) => {
      const socket = world.socket({ protocols });
      await once(socket, 'open');
      socket.on('error', () => undefined);
      const closed = once(socket, 'close');
      send(socket);
      await closed;
    };
    const stranger = ['groundcrew'];
    const known = ['groundcrew', tokenProtocol(token)];
    await ends(known, (socket) => socket.send(Buffer.from('{}')));
    await ends(stranger, (socket) => socket.send('x'.repeat(70_000)));
    await ends(stranger, (socket) => {
      for (let count = 0; count < 3_000; count += 1) socket.ping(Buffer.alloc(125));
    });
    await ends(known, (socket) => socket.send('x'.repeat(33 * 1024 * 1024)));
    await ends(known, (socket) => {
      for (let count = 0; count < 20_000; count += 1) socket.send('', { fin: false });
    });
    await using client = world.client();
    expect((await client.ping('x')).message).toBe('pong: x');
  });

  test('what is no message ends one socket with a reason, and no other', async () => {
    const socket = world.socket();
    await once(socket, 'open');
    socket.send('[]');
    const [data] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(String(data))).toMatchObject({ error: { code: -32600 } });
    await once(socket, 'close');
    await using client = world.client();
    expect((await client.ping('x')).message).toBe('pong: x');
  });
});

describe('the cookie of a page', () => {
  test('is given for the token only, is HttpOnly and SameSite=Strict, and lets its own page in', async () => {
    const origin = world.url;
    expect((await world.ask('/enter', { method: 'POST' })).status).toBe(401);
    expect((await world.ask('/enter', { headers: bearer })).status).toBe(404);
    const entered = await world.ask('/enter', { method: 'POST', headers: { ...bearer, origin } });
    const [given = ''] = entered.headers['set-cookie'] ?? [];
    expect([entered.status, given]).toEqual([
      204,
      expect.stringMatching(/^groundcrew-\d+=\S+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/),
    ]);
    const cookie = given.split(';', 1)[0] ?? '';
    const events = '/events?session=none';
    const protocols = ['groundcrew'];
    expect({
      ownPage: (await world.ask(events, { headers: { cookie, 'sec-fetch-site': 'same-origin' } })).status,
      otherPort: (await world.ask(events, { headers: { cookie, 'sec-fetch-site': 'same-site' } })).status,
      otherSite: (await world.ask(events, { headers: { cookie, 'sec-fetch-site': 'cross-site' } })).status,
      changed: (await world.ask(events, { headers: { cookie: `${cookie}x` } })).status,
      socket: await world.refusal({ protocols, headers: { cookie, origin } }),
      notTwice: (await world.ask('/enter', { method: 'POST', headers: { cookie, origin } })).status,
    }).toEqual({
      ownPage: 404,
      otherPort: 401,
      otherSite: 401,
      changed: 401,
      socket: 'accepted',
      notTwice: 401,
    });
  });
});

describe('events of a session as server-sent events', () => {
  test('are refused without the token, and for what is no session or no cursor', async () => {
    const ask = async (path: string, headers = {}) => (await world.ask(path, { headers })).status;
    expect([
      await ask('/events?session=by-socket'),
      await ask('/events', bearer),
      await ask('/events?session=nothing', bearer),
      await ask('/events?session=by-socket&cursor=x', bearer),
      await ask('/events?session=by-socket&curser=1', bearer),
      await ask('/events?session=by-socket', { ...bearer, origin: 'https://evil.example' }),
    ]).toEqual([401, 400, 404, 400, 400, 403]);
  });

  test('what was taken back is not read, be the session open or only stored', async () => {
    await using client = world.client();
    const session = await client.createSession({ sessionId: 'taken-back', onPermissionRequest: approveAll });
    world.model.play(say('kept'), say('taken'));
    await session.sendAndWait('one');
    await session.sendAndWait('two');
    const [, second] = (await session.getEvents()).filter(({ type }) => type === 'user.message');
    await session.call('session.history.truncate', { eventId: second?.id ?? '' });
    const kept = await session.getEvents();
    const read = async () =>
      (await follow('taken-back', '', undefined, '&follow=0')).map(({ event }) => event);
    expect(await read()).toEqual(kept);
    await client.call('sessions.close', { sessionId: 'taken-back' });
    expect((await read()).slice(0, kept.length)).toEqual(kept);
    expect(JSON.stringify(await read())).not.toContain('"content":"taken"');
  });

  test('what model calls took is read from the store, from any place on', async () => {
    const ask = async (after: string) => world.ask(`/usage?session=taken-back${after}`, { headers: bearer });
    const { uses, after } = JSON.parse((await ask('')).body);
    const call = {
      at: expect.stringMatching(/Z$/),
      eventId: expect.any(String),
      model: 'scripted',
      inputTokens: 7,
      outputTokens: 3,
      cacheReadTokens: 0,
      cost: null,
      milliseconds: expect.any(Number),
    };
    // What was taken back was paid all the same.
    expect(uses).toEqual([call, call]);
    expect(JSON.parse((await ask(`&after=${after}`)).body)).toEqual({ uses: [], after });
    expect([
      (await world.ask('/usage', { headers: bearer })).status,
      (await ask('&after=x')).status,
      (await world.ask('/usage?session=taken-back')).status,
      (await world.ask('/stored')).status,
    ]).toEqual([400, 400, 401, 401]);
    const stored = JSON.parse((await world.ask('/stored', { headers: bearer })).body);
    expect(stored['taken-back']).toEqual({ cost: null, hasWork: false });
  });

  test('from any cursor on, all events of the log come once and in order, live or stored', async () => {
    const client = world.client();
    const session = await client.createSession({ sessionId: 'followed', onPermissionRequest: approveAll });
    await session.sendAndWait('one');
    const following = follow(
      'followed',
      '',
      (events) => events.at(-1)?.type === 'assistant.turn_end' && count(events) >= 2,
    );
    await session.sendAndWait('two');
    const live = await following;
    const stored = await session.getEvents();
    expect(live.map(({ event }) => event)).toEqual(stored);
    await client.stop();
    const whole = await follow('followed', '', undefined, '&follow=0');
    expect(whole.slice(0, live.length).map(({ event }) => event)).toEqual(stored);
    for (const index of [0, 3, whole.length - 1]) {
      const rest = await follow('followed', whole[index]?.id ?? '', undefined, '&follow=0');
      expect(rest).toEqual(whole.slice(index + 1));
    }
  });

  test('a reader that stops for a while gets all of it, costs others nothing, and leaves nothing at its stream', async () => {
    await using client = world.client();
    const session = await client.createSession({ sessionId: 'slowly-read', onPermissionRequest: approveAll });
    world.model.play(say('begun'));
    await session.sendAndWait('Begin');
    const large = 'x'.repeat(20_000);
    const got: SessionEvent[] = [];
    const following = follow('slowly-read', '', (events) => {
      got.splice(0, got.length, ...events);
      return events.filter(({ type }) => type === 'session.info').length >= 15;
    });
    // Each is a piece of its own that is more than a stream takes at once: it is waited for, every time.
    for (let made = 0; made < 15; made += 1) {
      await session.log(`${made} ${large}`);
      await until(() => JSON.stringify(got.at(-1) ?? '').includes(`${made} x`));
    }
    await following;
    await Promise.all(Array.from({ length: 200 }, (_, made) => session.log(`${made} ${large}`)));
    const { port } = new URL(world.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.pause();
    const request = `GET /events?session=slowly-read&follow=0 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${bearer.authorization}\r\nConnection: close\r\n\r\n`;
    socket.write(request);
    const whole = await follow('slowly-read', '', undefined, '&follow=0');
    expect((await client.ping('x')).message).toBe('pong: x');
    let read = '';
    for await (const chunk of socket as AsyncIterable<Buffer>) read += chunk.toString();
    const ids = [...read.matchAll(/^id: (\d+)/gm)].map(([, id]) => Number(id));
    expect(ids).toEqual(whole.map(({ id }) => Number.parseInt(id, 10)));
    expect(ids.length).toBeGreaterThan(215);
    expect(world.process.stderr).not.toContain('MaxListeners');
  });

  test('a cursor that is no place of the session is said to be none, and reading starts anew, be it open or only stored', async () => {
    await using client = world.client();
    const session = await client.createSession({ sessionId: 'lost', onPermissionRequest: approveAll });
    world.model.play(say('one'), say('two'));
    await session.sendAndWait('one');
    const frames = async (cursor: string, headers = {}) => {
      const path = `/events?session=lost&follow=0&cursor=${cursor}`;
      const { body } = await world.ask(path, { headers: { ...bearer, ...headers } });
      return body.split('\n\n').filter((frame) => !/^(?:retry|$)/.test(frame));
    };
    const idsOf = (all: readonly string[]) => all.flatMap((frame) => /^id: (.*)$/m.exec(frame)?.[1] ?? []);
    const read = async () => {
      const whole = await frames('');
      const far = await frames('999999999999999');
      const byHeader = await frames('', { 'last-event-id': '999999999999999:7' });
      expect([far[0], byHeader[0]]).toEqual(['event: expired\ndata: {}', 'event: expired\ndata: {}']);
      expect([idsOf(far), idsOf(byHeader)]).toEqual([idsOf(whole), idsOf(whole)]);
      // The end of the log is a place of it.
      const end = idsOf(whole).at(-1) ?? '';
      expect((await frames(end)).filter((frame) => frame.startsWith('event: expired'))).toEqual([]);
      return idsOf(whole);
    };
    const live = await read();
    await client.call('sessions.close', { sessionId: 'lost' });
    expect((await read()).slice(0, live.length)).toEqual(live);
    // One that is followed from there gets what is still to come.
    const following = follow('lost', '999999999999999', (events) => count(events) >= 2);
    const again = await client.resumeSession('lost', { onPermissionRequest: approveAll });
    await again.sendAndWait('two');
    const all = (await following).map(({ event }) => event.id);
    expect(all).toEqual((await again.getEvents()).map(({ id }) => id).slice(0, all.length));
    for (const wrong of ['-1', '1e3', '1:2:3', '1:', ':1', '0x1', '%00', '1%0a2', '9'.repeat(16), '<3'])
      expect([
        wrong,
        (await world.ask(`/events?session=lost&follow=0&cursor=${wrong}`, { headers: bearer })).status,
      ]).toEqual([wrong, 400]);
  });

  test('the server is killed again and again: readers and clients that come back with their cursors miss nothing', {
    timeout: 120_000,
  }, async () => {
    let cursor = '';
    const got: SessionEvent[] = [];
    for (let round = 0; round < 4; round += 1) {
      const client = new Client({
        connection: RuntimeConnection.forChannel(() => world.channel()),
        reconnectTimeout: 0,
        onHandlerError: () => undefined,
      });
      const options = { onPermissionRequest: approveAll, streaming: true };
      const session =
        round === 0
          ? await client.createSession({ sessionId: 'often-killed', ...options })
          : await client.resumeSession('often-killed', options);
      const pieces = Array.from({ length: 2_000 }, (_, at) => `${round} ${at} `);
      world.model.play(streamChunks(...pieces), streamChunks(...pieces));
      await session.sendAndWait(`Round ${round}`);
      const turn = session.send(`Killed ${round}`).catch(() => undefined);
      // In the middle of an answer, after some of its pieces; at its end at the latest.
      const isEnough = (events: readonly SessionEvent[]) =>
        events.filter(({ type }) => type === 'assistant.message_delta').length > 20 * (round + 1) ||
        count(events) >= 2;
      const found = await follow('often-killed', cursor, isEnough, '&ephemeral=1');
      await turn;
      await world.process.signal('SIGKILL');
      await client.forceStop();
      for (const { id, event } of found) {
        cursor = id;
        if (!event.ephemeral) got.push(event);
      }
      await world.startServer();
    }
    const rest = await follow('often-killed', cursor, undefined, '&follow=0');
    got.push(...rest.map(({ event }) => event));
    const whole = (await follow('often-killed', '', undefined, '&follow=0')).map(({ event }) => event.id);
    expect(got.map(({ id }) => id)).toEqual(whole);
  });

  test('the server is killed in the middle: a reader that comes back with its last id misses nothing', async () => {
    const channel = RuntimeConnection.forChannel(() => world.channel());
    const client = new Client({ connection: channel, reconnectTimeout: 0, onHandlerError: () => undefined });
    const session = await client.createSession({ sessionId: 'killed', onPermissionRequest: approveAll });
    await session.sendAndWait('one');
    const before = await follow('killed', '', (events) => events.length >= 4);
    await world.process.signal('SIGKILL');
    await client.forceStop();
    await world.startServer();
    await using again = world.client();
    const resumed = await again.resumeSession('killed', { onPermissionRequest: approveAll });
    await resumed.sendAndWait('two');
    const after = await follow('killed', before.at(-1)?.id ?? '', (events) => count(events) >= 1);
    const all = [...before, ...after].map(({ event }) => event.id);
    const log = (await resumed.getEvents()).map(({ id }) => id);
    expect(all).toEqual(log.slice(0, all.length));
    expect(new Set(all).size).toBe(all.length);
  });
});

function count(events: readonly SessionEvent[]): number {
  return events.filter(({ type }) => type === 'assistant.turn_end').length;
}

/** What keeps an answer from other pages. */
const guards = {
  policy: true,
  frames: true,
  sniffing: 'nosniff',
  sharing: 'same-origin',
  origins: undefined,
};

function guarded(headers: Readonly<Record<string, unknown>>): typeof guards {
  const policy = String(headers['content-security-policy']);
  return {
    policy: policy.startsWith("default-src 'none'"),
    frames: policy.includes("frame-ancestors 'none'"),
    sniffing: String(headers['x-content-type-options']),
    sharing: String(headers['cross-origin-resource-policy']),
    origins: headers['access-control-allow-origin'] as undefined,
  };
}

interface Followed {
  readonly id: string;
  readonly event: SessionEvent;
}

/** Reads a stream until it ends, or is enough. */
async function follow(
  session: string,
  cursor: string,
  isEnough: (events: readonly SessionEvent[]) => boolean = () => false,
  more = '',
): Promise<readonly Followed[]> {
  const url = `${world.url}/events?session=${session}&cursor=${cursor}${more}`;
  const response = await fetch(url, { headers: bearer });
  const found: Followed[] = [];
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const [, id = '', data = ''] = /^id: (.*)\ndata: (.*)$/.exec(frame) ?? [];
      if (id !== '') found.push({ id, event: JSON.parse(data) as SessionEvent });
      if (isEnough(found.map(({ event }) => event))) return found;
    }
  }
  return found;
}

describe('the page of the door', () => {
  test('is served under a strict policy, to browsers that call this machine by its name', async () => {
    const { status, headers, body } = await world.ask('/');
    expect([status, body.includes('/inspector.js')]).toEqual([200, true]);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'/,
    );
    expect(headers['access-control-allow-origin']).toBe(undefined);
    const script = await world.ask('/inspector.js');
    expect([script.status, script.headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
    const { port } = new URL(world.url);
    const rebound = { host: `rebound.example:${port}` };
    expect([
      (await world.ask('/', { headers: rebound })).status,
      (await world.ask('/', { headers: { origin: 'https://evil.example' } })).status,
      (await world.ask('/known')).status,
      (await world.ask('/requests?session=followed&turn=1')).status,
      (await world.ask('/else', { headers: bearer })).status,
    ]).toEqual([403, 403, 401, 401, 404]);
  });

  test('every answer of the door, whatever it is, is framed by no page, guessed by no browser and shared with no origin', async () => {
    const { port } = new URL(world.url);
    const origin = world.url;
    const asked: readonly (readonly [number, string, Parameters<typeof world.ask>[1]?])[] = [
      [200, '/'],
      [200, '/inspector.js'],
      [200, '/inspector.css'],
      [200, '/known', { headers: bearer }],
      [200, '/stored', { headers: bearer }],
      [200, '/usage?session=followed', { headers: bearer }],
      [200, '/requests?session=followed&turn=1', { headers: bearer }],
      [200, '/events?session=followed&follow=0', { headers: bearer }],
      [204, '/enter', { method: 'POST', headers: { ...bearer, origin } }],
      [400, '/requests', { headers: bearer }],
      [400, '/events', { headers: bearer }],
      [401, '/known'],
      [401, '/events?session=followed', { headers: { authorization: 'Bearer wrong' } }],
      [401, '/enter', { method: 'POST' }],
      [403, '/', { headers: { host: `rebound.example:${port}` } }],
      [403, '/', { headers: { origin: 'https://evil.example' } }],
      [404, '/else', { headers: bearer }],
      [404, '/events?session=none', { headers: bearer }],
      [405, '/', { method: 'POST' }],
      [405, '/', { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } }],
    ];
    for (const [status, path, options] of asked) {
      const answer = await world.ask(path, options);
      expect([path, answer.status, guarded(answer.headers)]).toEqual([path, status, guards]);
    }
    const socket = new WebSocket(`${world.url.replace('http', 'ws')}/rpc`, {
      headers: { authorization: 'Bearer no' },
    });
    const [, refused] = (await once(socket, 'unexpected-response')) as [
      unknown,
      { statusCode: number; headers: Record<string, string> },
    ];
    socket.on('error', () => undefined).terminate();
    expect([refused.statusCode, guarded(refused.headers)]).toEqual([401, guards]);
  });

  test('gets the exact request of a call', async () => {
    const { status, body } = await world.ask('/requests?session=killed&turn=1', { headers: bearer });
    expect([status, JSON.parse(body)]).toMatchObject([200, { model: 'scripted' }]);
    const missing = await world.ask('/requests?session=killed&turn=99', { headers: bearer });
    expect([missing.status, missing.body]).toEqual([404, expect.stringContaining('There is no turn 99')]);
  });

  test('groundcrew inspect opens it with a token of its own, on this machine only', async () => {
    const inspect = world.another(['inspect', '--no-open']);
    try {
      await until(() => /Inspector at \S+\n/.test(inspect.stdout));
      const [, url = '', shown = ''] =
        /Inspector at (http:\/\/127\.0\.0\.1:\d+)\/#(\S{43})\n/.exec(inspect.stdout) ?? [];
      const known = async (headers: Record<string, string>) =>
        (await fetch(`${url}/known`, { headers })).status;
      expect([
        await known({}),
        await known(bearer),
        await known({ authorization: `Bearer ${shown}` }),
      ]).toEqual([401, 401, 200]);
    } finally {
      await inspect.stop();
    }
  });
});
