import { execFileSync } from 'node:child_process';
import { constants, openSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, refuse, say } from '@groundcrew/testkit';
import { afterAll, describe, expect, test } from 'vitest';
import { Collector } from './collector.js';
import { until } from './mcp-world.js';

const runtime = liveRuntime();
const closers: { close(): unknown }[] = [];
afterAll(() => Promise.all(closers.map((each) => each.close())));

async function exporting(environment: Readonly<Record<string, string>>) {
  const process = runtime.spawn({
    flags: ['--stdio'],
    environment: { OTEL_BSP_SCHEDULE_DELAY: '1', ...environment },
  });
  return { process, client: await runtime.connect(process) };
}

/** A collector that answers as the test wants; `seen` has what came to `/v1/traces`. */
async function answering(answer: (response: ServerResponse, count: number) => void) {
  const seen: string[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.url !== '/v1/traces') return void response.end('{}');
    seen.push(Buffer.concat(chunks).toString());
    answer(response, seen.length);
  });
  closers.push({ close: () => server.close().closeAllConnections() });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, seen };
}

const turn = async ({ client }: Awaited<ReturnType<typeof exporting>>) =>
  (await client.create(providerOf(runtime.script(say('hello'))))).turn('Hi');

describe('a pipe as the file of telemetry', () => {
  test('holds up neither a turn nor the end when no process reads it, or one that has stopped to', async () => {
    const path = join(runtime.home.path, 'pipe');
    execFileSync('mkfifo', [path]);
    const unread = await exporting({ COPILOT_OTEL_FILE_EXPORTER_PATH: path });
    await turn(unread);
    await until(() => unread.process.stderr.includes('no program reads this pipe'));
    await unread.client.call('runtime.shutdown');
    // A reader that takes nothing: the pipe is full after 64 KiB.
    openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stuck = await exporting({
      COPILOT_OTEL_FILE_EXPORTER_PATH: path,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    });
    const session = await stuck.client.create(providerOf(runtime.script(say('x'.repeat(200_000)))));
    await session.turn('Hi');
    await stuck.client.call('runtime.shutdown');
    await stuck.client.close();
    expect(await stuck.process.exited).toMatchObject({ signal: null });
  });
});

test('files of certificates that are not there, or are none, are named in a warning, and the runtime works', async () => {
  const garbage = join(runtime.home.path, 'garbage.pem');
  writeFileSync(garbage, 'no certificate');
  const cases = [
    [{ OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere/ca.pem' }, 'OTEL_EXPORTER_OTLP_CERTIFICATE cannot be read'],
    [
      { OTEL_EXPORTER_OTLP_CLIENT_KEY: '/dev/zero' },
      'OTEL_EXPORTER_OTLP_CLIENT_KEY cannot be read: it is no',
    ],
    [{ OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: garbage }, 'are not valid PEM'],
  ] as const;
  await Promise.all(
    cases.map(async ([environment, words]) => {
      const started = await exporting({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'https://127.0.0.1:9',
        ...environment,
      });
      await turn(started);
      await until(() => started.process.stderr.includes(words));
      await started.client.call('runtime.shutdown');
    }),
  );
});

describe('what a collector answers', () => {
  test('is read: rejected spans are a warning and are counted, in JSON and in protobuf', async () => {
    const json = await answering((response) =>
      response.end('{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}'),
    );
    const protobuf = await answering((response) =>
      response.end(Buffer.concat([Buffer.from([10, 11, 8, 2, 18, 7]), Buffer.from('too old')])),
    );
    for (const [{ url }, protocol] of [
      [json, 'http/json'],
      [protobuf, 'http/protobuf'],
    ] as const) {
      const started = await exporting({
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      });
      await turn(started);
      await until(() => started.process.stderr.includes('rejected 2 spans of telemetry: too old'));
      await started.client.call('runtime.shutdown');
    }
  });

  test('may be garbage without end: nothing is sent twice for it, and no turn waits', async () => {
    const { url, seen } = await answering((response, count) => {
      if (count === 1) response.end('<html>'.repeat(20_000));
      else response.end(Buffer.from([10, 255, 255, 255, 255, 255, 255, 255, 255, 255]));
    });
    const started = await exporting({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
    await turn(started);
    await until(() => seen.length > 0);
    await turn(started);
    await started.client.call('runtime.shutdown');
    const ids = seen.join('').match(/"spanId":"\w+"/g) ?? [];
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
    expect(started.process.stderr).not.toContain('Telemetry cannot be exported');
  });

  test('may be a redirect: it is not followed, so keys in headers go nowhere else', async () => {
    const other = await answering((response) => response.end('{}'));
    const { url, seen } = await answering((response) =>
      response.writeHead(307, { location: `${other.url}/v1/traces` }).end(),
    );
    const started = await exporting({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=hidden-value',
    });
    await turn(started);
    await until(() => started.process.stderr.includes('it answered 307'));
    await started.client.call('runtime.shutdown');
    expect(seen.length).toBeGreaterThan(0);
    expect(other.seen).toEqual([]);
  });

  test('may be a request to come later, in seconds or by a date: it is obeyed', async () => {
    const later = ['0', new Date(Date.now() - 1000).toUTCString()];
    const { url, seen } = await answering((response, count) => {
      const header = later[count - 1];
      if (header === undefined) response.end('{}');
      else response.writeHead(429, { 'retry-after': header }).end();
    });
    const started = await exporting({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
    await turn(started);
    await until(() => seen.some((_, index) => index >= later.length));
    expect(seen[2]).toBe(seen[0]);
    await started.client.call('runtime.shutdown');
  });
});

test('without leave for content, no failure of a model or a hook takes a prompt out with its message', async () => {
  const secret = 'the-words-of-the-user';
  const run = async (captures: string) => {
    const collector = await Collector.open();
    closers.push(collector);
    const { client } = await exporting({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: captures,
    });
    client.answer = async (method) => {
      if (method === 'hooks.invoke') throw new Error(`The hook does not like ${secret}`);
      return {};
    };
    const model = runtime.script(refuse(400, `Refused: ${secret}`));
    const session = await client.create({ ...providerOf(model), hooks: true });
    await session.turn(secret);
    await client.call('runtime.shutdown');
    const failures = collector.spans.filter(({ status }) => status.code === 2);
    return { text: collector.posted.map(({ body }) => body.toString()).join(''), failures };
  };
  const off = await run('false');
  expect(off.failures.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['chat scripted', 'invoke_agent']),
  );
  expect(off.text).not.toContain(secret);
  const on = await run('true');
  expect(JSON.stringify(on.failures.map(({ status }) => status.message))).toContain(secret);
});

test('what a session leaves open ends with the session, and not with the process', async () => {
  const collector = await Collector.open();
  closers.push(collector);
  const { client } = await exporting({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const model = runtime.script(
    callTools({ id: 'c1', name: 'bash', arguments: { command: 'true', description: 'x' } }),
  );
  const session = await client.create(providerOf(model));
  await session.send('Go');
  await session.next('permission.requested');
  await client.call('session.destroy', { sessionId: session.sessionId });
  await until(() => collector.spans.some(({ name }) => name === 'permission'));
  const names = collector.spans.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['permission', 'execute_tool bash', 'invoke_agent']));
  await client.call('runtime.shutdown');
});
