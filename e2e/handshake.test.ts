import { liveRuntime, WireClient } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

describe('with a connection token', () => {
  const runtime = liveRuntime({ environment: { COPILOT_CONNECTION_TOKEN: 'sesame' } });

  test('nothing answers before the token was shown, and a wrong one may be followed by the right one', async () => {
    const client = await runtime.connect();
    const required = { code: -32001, message: 'AUTHENTICATION_REQUIRED' };
    const wrong = { code: -32002, message: 'AUTHENTICATION_FAILED' };
    for (const method of ['ping', 'session.create', 'runtime.shutdown', 'no.such.method'])
      expect(await client.failure(method, {})).toEqual(required);
    for (const params of [
      {},
      { token: 'wrong' },
      { token: 42 },
      { token: null },
      { token: '' },
      undefined,
      [],
    ])
      expect(await client.failure('connect', params)).toEqual(wrong);
    expect(await client.failure('ping', {})).toEqual(required);
    const welcome = { ok: true, protocolVersion: 3, version: expect.any(String) };
    expect(await client.call('connect', { token: 'sesame' })).toEqual(welcome);
    expect(await client.call('connect', { token: 'sesame' })).toEqual(welcome);
    expect(await client.call('ping', {})).toMatchObject({ message: 'pong' });
  });

  test('a wrong token after the right one is refused', async () => {
    const client = await runtime.connect();
    await client.call('connect', { token: 'sesame' });
    expect(await client.failure('connect', { token: 'wrong' })).toMatchObject({ code: -32002 });
  });

  test('a connection that has shown none hears nothing of other sessions', async () => {
    const outsider = await runtime.connect();
    expect(await outsider.failure('ping', {})).toMatchObject({ code: -32001 });
    const insider = await runtime.connect();
    await insider.call('connect', { token: 'sesame' });
    await insider.create();
    await insider.call('ping', {});
    expect(await outsider.failure('ping', {})).toMatchObject({ code: -32001 });
    expect(outsider.order().filter((line) => line.startsWith('lifecycle'))).toEqual([]);
  });
});

describe('without a connection token', () => {
  const runtime = liveRuntime({ flags: ['--port', '0'] });

  test('any client that connects is served, and stderr says so', async () => {
    const client = await runtime.connect();
    expect(await client.call('ping', {})).toMatchObject({ protocolVersion: 2 });
    expect(await client.call('connect', {})).toEqual({
      ok: true,
      protocolVersion: 3,
      version: expect.any(String),
    });
    expect(await client.call('connect', { token: null })).toMatchObject({ ok: true });
    expect(runtime.process.stderr).toMatch(/No connection token is set/);
  });

  test.each(['none', 'error', 'all'])('and stderr says so at the log level %s, too', async (level) => {
    const process = runtime.spawn({ flags: ['--port', '0', '--log-level', level] });
    const client = await runtime.connect(process);
    expect(await client.call('ping', {})).toMatchObject({ protocolVersion: 2 });
    expect(process.stderr).toMatch(/No connection token is set/);
  });

  test('a token that is not needed is refused, and the connection goes on', async () => {
    const client = await runtime.connect();
    expect(await client.failure('connect', { token: 'sesame' })).toEqual({
      code: -32003,
      message: 'AUTHENTICATION_NOT_CONFIGURED',
    });
    expect(await client.call('connect', {})).toMatchObject({ ok: true });
  });

  test('ping returns the time in milliseconds to clients of old, in text after connect', async () => {
    const client = await runtime.connect();
    expect(await client.call('ping', { message: 'hi' })).toEqual({
      message: 'pong: hi',
      timestamp: expect.any(Number),
      protocolVersion: 2,
    });
    await client.call('connect', {});
    expect(await client.call('ping', { message: 'hi' })).toEqual({
      message: 'pong: hi',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      protocolVersion: 3,
    });
  });

  test('status, authentication and models can be asked for', async () => {
    const client = await runtime.connect();
    expect(await client.call('status.get', {})).toEqual({ version: expect.any(String), protocolVersion: 3 });
    expect(await client.call('auth.getStatus', {})).toEqual({
      isAuthenticated: false,
      statusMessage: 'Not authenticated',
    });
    expect(await client.call('models.list', {})).toEqual({
      models: [expect.objectContaining({ id: 'offline' })],
    });
  });

  test('the port is open on the loopback interface only', async () => {
    const port = await runtime.process.port();
    const { connectTcp } = await import('@groundcrew/rpc');
    await expect(connectTcp({ port, host: '127.0.0.2' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const client = new WireClient(await connectTcp({ port, host: '127.0.0.1' }));
    expect(await client.call('ping', {})).toMatchObject({ message: 'pong' });
    await client.close();
  });
});

describe('on stdio', () => {
  const runtime = liveRuntime({
    flags: ['--stdio', '--auth-token-env', 'MY_TOKEN'],
    environment: { COPILOT_CONNECTION_TOKEN: 'sesame', MY_TOKEN: 'gho_1' },
  });

  test('no token is asked for: the holder of the pipe started the program', async () => {
    expect(await runtime.client.call('connect', {})).toMatchObject({ ok: true });
    expect(await runtime.client.call('auth.getStatus', {})).toEqual({
      isAuthenticated: true,
      authType: 'token',
      host: 'https://github.com',
      statusMessage: 'https://github.com (via token)',
    });
  });
});
