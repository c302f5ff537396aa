import { existsSync, readFileSync, renameSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { afterAll, expect, test } from 'vitest';
import { Collector } from './collector.js';
import { until } from './mcp-world.js';

const runtime = liveRuntime();
const closers: { close(): unknown }[] = [];
afterAll(() => Promise.all(closers.map((each) => each.close())));

async function exporting(environment: Readonly<Record<string, string>>) {
  const process = runtime.spawn({ flags: ['--stdio'], environment });
  return { process, client: await runtime.connect(process) };
}

async function newCollector(): Promise<Collector> {
  const collector = await Collector.open();
  closers.push(collector);
  return collector;
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const namesIn = (path: string) =>
  !existsSync(path)
    ? []
    : readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line.includes('"type":"span"'))
        .map((line) => JSON.parse(line).name as string);

test('a trace state that cannot be a header is left out, one that can is passed on, and neither harms the turn', async () => {
  const collector = await newCollector();
  const { client } = await exporting({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const model = runtime.script(say('one'), say('two'), say('three'), say('four'));
  const session = await client.create(providerOf(model));
  for (const tracestate of ['a=b\r\nx-evil: 1', `a=${'b'.repeat(600)}`, 'no pair', 'a=b,c@d=e'])
    await session.turn('Hi', { traceparent, tracestate });
  expect(model.requests.map(({ headers }) => headers.tracestate)).toEqual([
    undefined,
    undefined,
    undefined,
    'a=b,c@d=e',
  ]);
  expect(new Set(model.requests.map(({ headers }) => headers.traceparent?.slice(0, 35)))).toEqual(
    new Set([traceparent.slice(0, 35)]),
  );
  expect(model.requests.some(({ headers }) => 'x-evil' in headers)).toBe(false);
  for (const malformed of ['', 'nonsense', traceparent.toUpperCase(), `ff${traceparent.slice(2)}`]) {
    const other = runtime.script(say('well'));
    await (await client.create(providerOf(other))).turn('Hi', { traceparent: malformed });
    expect(other.requests[0]?.headers.traceparent).not.toContain(traceparent.slice(3, 35));
  }
  await client.call('runtime.shutdown');
});

test('a key in the name of a tool is covered in spans and in metrics', async () => {
  const key = 'sk-0123456789abcdefghij';
  const collector = await newCollector();
  const { client } = await exporting({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const model = runtime.script(callTools({ id: 'c1', name: key, arguments: {} }), say('done'));
  await (await client.create(providerOf(model))).turn('Hi');
  await client.call('runtime.shutdown');
  expect(collector.spans.map(({ name }) => name)).toContain('execute_tool [redacted]');
  expect(collector.metrics.length).toBeGreaterThan(0);
  expect(collector.posted.map(({ body }) => body.toString()).join('')).not.toContain(key);
});

test('a variable of OpenTelemetry without effect is said to clients; a time that no timer takes is the longest one', async () => {
  const collector = await newCollector();
  const { client } = await exporting({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '9999999999',
    OTEL_BSP_SCHEDULE_DELAY: '9999999999',
    OTEL_BSP_EXPORT_TIMEOUT: '5',
    OTEL_PROPAGATORS: 'b3',
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_RESOURCE_ATTRIBUTES: 'service.version=7,team=x',
  });
  const events = await (await client.create(providerOf(runtime.script(say('hello'))))).turn('Hi');
  const warnings = events.flatMap(({ type, data }) =>
    type === 'session.warning' ? [(data as { readonly message: string }).message] : [],
  );
  expect(warnings.sort()).toEqual([
    'OTEL_BSP_EXPORT_TIMEOUT has no effect: this version does not know it.',
    'OTEL_PROPAGATORS has no effect: this version does not know it.',
  ]);
  expect(collector.posted).toEqual([]);
  await client.call('runtime.shutdown');
  expect(collector.spans.map(({ name }) => name)).toEqual(['chat scripted', 'invoke_agent']);
  const [resource] = JSON.parse(collector.posted[0]?.body.toString() ?? '').resourceSpans;
  expect(resource.resource.attributes).toEqual(
    expect.arrayContaining([{ key: 'service.version', value: { stringValue: '7' } }]),
  );
});

test('a collector that hangs, or comes back at the end, delays no turn and the end by two seconds at most', async () => {
  const hanging = createServer(() => undefined);
  closers.push({ close: () => hanging.close().closeAllConnections() });
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
  const address = hanging.address() as { port: number };
  const slow = await exporting({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${address.port}`,
    OTEL_BSP_SCHEDULE_DELAY: '1',
  });
  await (await slow.client.create(providerOf(runtime.script(say('hello'))))).turn('Hi');
  const began = Date.now();
  await slow.client.call('runtime.shutdown');
  expect(Date.now() - began).toBeLessThan(10_000);
  const collector = await newCollector();
  collector.status = 503;
  const refused = await exporting({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '1',
  });
  await (await refused.client.create(providerOf(runtime.script(say('hello'))))).turn('Hi');
  await until(() => collector.posted.length > 0);
  collector.status = 200;
  const before = collector.posted.length;
  await refused.client.call('runtime.shutdown');
  expect(collector.posted.slice(before).map(({ path }) => path)).toContain('/v1/traces');
});

test('a file that is moved away is made anew, and one on a full disk costs no turn anything', async () => {
  const path = join(runtime.home.path, 'rotated.jsonl');
  const { client } = await exporting({
    COPILOT_OTEL_FILE_EXPORTER_PATH: path,
    OTEL_BSP_SCHEDULE_DELAY: '1',
  });
  const session = await client.create(providerOf(runtime.script(say('one'), say('two'))));
  await session.turn('Hi');
  await until(() => namesIn(path).includes('invoke_agent'));
  renameSync(path, `${path}.1`);
  await session.turn('On');
  await client.call('runtime.shutdown');
  expect(namesIn(path)).toEqual(['chat scripted', 'invoke_agent']);
  expect(namesIn(`${path}.1`)).toEqual(['chat scripted', 'invoke_agent']);
  const full = await exporting({
    COPILOT_OTEL_FILE_EXPORTER_PATH: '/dev/full',
    OTEL_BSP_SCHEDULE_DELAY: '1',
  });
  const events = await (await full.client.create(providerOf(runtime.script(say('hello'))))).turn('Hi');
  expect(events.some(({ type }) => type === 'session.error')).toBe(false);
  await until(() => full.process.stderr.includes('Telemetry cannot be exported to /dev/full'));
  await full.client.call('runtime.shutdown');
});
