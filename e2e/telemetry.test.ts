import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  callTools,
  liveRuntime,
  providerOf,
  RuleModel,
  refuse,
  type ScriptedReply,
  say,
  type WireClient,
  type WireSession,
} from '@groundcrew/testkit';
import { afterAll, expect, test } from 'vitest';
import { Collector, tree } from './collector.js';
import { hooked } from './hooked.js';
import { closedPort, testServer, until } from './mcp-world.js';

const runtime = liveRuntime();
const collectors: Collector[] = [];
const models: RuleModel[] = [];
afterAll(async () => {
  await Promise.all([...collectors, ...models].map((each) => each.close()));
});

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const echo = { name: 'echo', description: 'Says it', parameters: { type: 'object' }, skipPermission: true };

async function newCollector(): Promise<Collector> {
  const collector = await Collector.open();
  collectors.push(collector);
  return collector;
}

/** A runtime of its own that exports by these variables. */
async function exporting(environment: Readonly<Record<string, string>>) {
  const process = runtime.spawn({ flags: ['--stdio'], environment });
  return { process, client: await runtime.connect(process) };
}

const toCollector = ({ url }: Collector, more: Readonly<Record<string, string>> = {}) =>
  exporting({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '10', ...more });

/** Answers every call of `echo` with its arguments. */
async function answerEcho(session: WireSession, calls = 1): Promise<void> {
  for (let call = 0; call < calls; call++) {
    const { data } = await session.next('external_tool.requested');
    await session.call('session.tools.handlePendingToolCall', {
      requestId: data.requestId,
      result: JSON.stringify(data.arguments),
    });
  }
}

/** Closes the runtime, so that all of its telemetry is out. */
async function finished({ client }: { readonly client: WireClient }): Promise<void> {
  await client.call('runtime.shutdown').catch(() => undefined);
}

test('a turn with hooks, tools, an MCP server and a sub-agent is one tree, in the trace of the client', async () => {
  const collector = await newCollector();
  const model = await RuleModel.open((messages) => {
    const text = JSON.stringify(messages.filter(({ role }) => role === 'user'));
    const results = messages.filter(({ role }) => role === 'tool').length;
    if (text.includes('SUB')) return { chunks: ['It says hello'] };
    const task = { name: 'helper', agent_type: 'explore', description: 'Looks', prompt: 'SUB', mode: 'sync' };
    if (results === 0) return { calls: [{ id: 'c1', name: 'echo', arguments: { a: 1 } }] };
    if (results === 1) return { calls: [{ id: 'c2', name: 'srv-echo', arguments: {} }] };
    if (results === 2) return { calls: [{ id: 'c3', name: 'task', arguments: task }] };
    return { chunks: ['Done'] };
  });
  models.push(model);
  const { client } = await toCollector(collector);
  hooked(client);
  const log = join(runtime.home.path, 'mcp.log');
  const session = await client.create({
    ...model.settings,
    tools: [echo],
    hooks: true,
    mcpServers: { srv: testServer({ tools: ['echo'], log }) },
    requestPermission: false,
  });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  const answered = answerEcho(session);
  await session.turn('ROOT', { traceparent, tracestate: 'a=b' });
  await answered;
  await finished({ client });
  const { spans } = collector;
  const chat = `chat ${model.settings.model}`;
  const hook = (...types: readonly string[]) => types.map((type) => `execute_hook ${type}`);
  const under = (depth: number, lines: readonly string[]) =>
    lines.map((line) => `${'  '.repeat(depth)}${line}`);
  expect(tree(spans)).toEqual([
    'invoke_agent',
    ...under(1, [...hook('userPromptSubmitted', 'userPromptTransformed', 'sessionStart'), chat]),
    ...under(1, [...hook('preToolUse', 'postToolUse'), 'execute_tool echo', '  external_tool echo', chat]),
    ...under(1, [...hook('preToolUse', 'preMcpToolCall', 'postToolUse'), 'execute_tool srv-echo', chat]),
    ...under(1, [...hook('preToolUse', 'postToolUse'), 'execute_tool task', '  invoke_agent explore']),
    ...under(3, [...hook('subagentStart', 'userPromptSubmitted', 'userPromptTransformed'), chat]),
    ...under(3, hook('subagentStop')),
    ...under(1, [chat, ...hook('agentStop', 'sessionEnd')]),
  ]);
  expect([...new Set(spans.map(({ traceId }) => traceId))]).toEqual(['0af7651916cd43dd8448eb211c80319c']);
  const root = spans.find(({ name }) => name === 'invoke_agent');
  expect(root).toMatchObject({
    parentSpanId: 'b7ad6b7169203331',
    status: {},
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': session.sessionId,
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': model.settings.model,
      'github.copilot.turn_count': 4,
    },
  });
  expect(spans.find(({ name }) => name === 'execute_tool srv-echo')?.attributes).toMatchObject({
    'gen_ai.tool.call.id': 'c2',
    'github.copilot.mcp.server.name': 'srv',
    'github.copilot.mcp.tool.name': 'echo',
  });
  const mcpCall = spans.find(({ name }) => name === 'execute_tool srv-echo');
  expect(readFileSync(log, 'utf8')).toContain(`00-${mcpCall?.traceId}-${mcpCall?.spanId}-01`);
  expect(JSON.stringify(spans)).not.toMatch(/ROOT|SUB|It says hello/);
});

test.each(['http/json', 'http/protobuf'])(
  '%s is what the official schema reads, with headers and gzip',
  async (protocol) => {
    const collector = await newCollector();
    const { client } = await toCollector(collector, {
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector,x-team=red',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_SERVICE_NAME: 'my-agents',
    });
    const session = await client.create({
      ...providerOf(runtime.script(refuse(429, 'slow down', { 'retry-after': '0' }), say('hello'))),
      streaming: true,
    });
    await session.turn('Hi');
    await finished({ client });
    expect(collector.posted.map(({ headers }) => headers.authorization)).toContain('Bearer of-the-collector');
    expect(collector.posted[0]?.headers).toMatchObject({ 'x-team': 'red', 'content-encoding': 'gzip' });
    const chat = collector.spans.find(({ name }) => name === 'chat scripted');
    expect(chat).toMatchObject({
      kind: 3,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'scripted',
        'gen_ai.request.stream': true,
        'gen_ai.response.finish_reasons': ['stop'],
        'server.address': '127.0.0.1',
        'github.copilot.attempts': 2,
      },
      events: [
        {
          name: 'github.copilot.retry',
          attributes: { 'error.type': '429', 'github.copilot.retry.attempt': 1 },
        },
      ],
    });
    const names = collector.metrics.map(({ name, unit }) => `${name} ${unit}`);
    expect(names).toEqual([
      'gen_ai.client.operation.duration s',
      'gen_ai.client.token.usage {token}',
      'gen_ai.client.operation.time_to_first_chunk s',
      'gen_ai.invoke_agent.duration s',
      'gen_ai.invoke_agent.inference_calls {inference_call}',
      'gen_ai.invoke_agent.tool_calls {tool_call}',
      'github.copilot.agent.turn.count {turn}',
      'groundcrew.model.retry.count {retry}',
    ]);
    const [usage] = collector.metrics.filter(({ name }) => name === 'gen_ai.client.token.usage');
    const [input] = usage?.points ?? [];
    expect(input).toMatchObject({ count: 1, attributes: { 'gen_ai.token.type': 'input' } });
    expect(input?.buckets?.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(input?.bounds?.slice(0, 4)).toEqual([1, 4, 16, 64]);
  },
);

test('calls and client tools go out with the context of their span, and no sampling of the client is overruled', async () => {
  const collector = await newCollector();
  const { client } = await toCollector(collector);
  const turn = async (flags: string) => {
    const model = runtime.script(callTools({ id: 'c1', name: 'echo', arguments: {} }), say('done'));
    const session = await client.create({ ...providerOf(model), tools: [echo] });
    const answered = answerEcho(session);
    await session.turn('Hi', { traceparent: traceparent.replace(/01$/, flags) });
    await answered;
    const requested = session.events.find(({ type }) => type === 'external_tool.requested')?.data as
      | { readonly traceparent?: string }
      | undefined;
    return {
      calls: model.requests.map(({ headers }) => headers.traceparent),
      tool: requested?.traceparent,
    };
  };
  const kept = await turn('01');
  const unkept = await turn('00');
  await finished({ client });
  const place = (name: string) =>
    collector.spans
      .filter((span) => span.name === name)
      .map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
  expect(kept).toEqual({ calls: place('chat scripted'), tool: place('execute_tool echo')[0] });
  expect([...unkept.calls, unkept.tool].map((context) => context?.slice(-3))).toEqual(['-00', '-00', '-00']);
});

test('summaries of a conversation, failures and stops are in the trace', async () => {
  const collector = await newCollector();
  const { client } = await toCollector(collector);
  const summary = say(
    '<overview>We talk.</overview><history>1. We talked.</history><checkpoint_title>Talk</checkpoint_title>',
  );
  const session = await client.create({
    ...providerOf(runtime.script(say('one'), summary, say('two'), refuse(400, 'no such thing'))),
    infiniteSessions: { backgroundCompactionThreshold: 0.001, bufferExhaustionThreshold: 0.001 },
  });
  await session.turn('First');
  await session.turn('Second');
  const other = await client.create(providerOf(runtime.script(refuse(400, 'no such thing'))));
  await other.turn('Fails');
  await finished({ client });
  const { spans } = collector;
  expect(spans.find(({ name }) => name === 'compaction')).toMatchObject({ status: {}, attributes: {} });
  expect(
    spans.filter(
      ({ attributes }) => attributes['github.copilot.interaction_type'] === 'conversation-compaction',
    ),
  ).toHaveLength(1);
  const failed = spans.filter(({ status }) => status.code === 2);
  expect(failed.map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
    ['chat scripted', '400'],
    ['invoke_agent', 'query'],
  ]);
});

interface Line {
  readonly type: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const linesOf = (path: string): readonly Line[] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    : [];

test('a file has a line for each span; what was said is in it only if that is asked for, and keys never', async () => {
  const key = 'sk-of-the-tests-0123456789';
  const replies: readonly ScriptedReply[] = [
    callTools({ id: 'c1', name: 'echo', arguments: { said: key } }),
    say(`Your key is ${key}`),
  ];
  const outcome = async (name: string, captures: string) => {
    const path = join(runtime.home.path, name);
    const { client } = await exporting({
      COPILOT_OTEL_FILE_EXPORTER_PATH: path,
      COPILOT_OTEL_SOURCE_NAME: 'my-source',
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: captures,
    });
    const { provider } = providerOf(runtime.script(...replies));
    const session = await client.create({
      model: 'scripted',
      provider: { ...provider, apiKey: key },
      tools: [echo],
    });
    const answered = answerEcho(session);
    await session.turn('What is my word?');
    await answered;
    await finished({ client });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    return { text: readFileSync(path, 'utf8'), spans: linesOf(path).filter(({ type }) => type === 'span') };
  };
  const silent = await outcome('silent.jsonl', 'false');
  expect(silent.text).not.toMatch(/my word|Your key|of-the-tests|said/);
  const open = await outcome('open.jsonl', 'true');
  expect(open.text).not.toContain(key);
  const [first, , tool, last, agent] = ['chat', 'external', 'execute_tool', 'chat', 'invoke_agent'].map(
    (name, index) => open.spans.filter((span) => span.name.startsWith(name))[index === 3 ? 1 : 0],
  );
  expect(first?.attributes['gen_ai.input.messages']).toContain('What is my word?');
  expect(tool?.attributes).toMatchObject({
    'gen_ai.tool.call.arguments': '{"said":"[redacted]"}',
    'gen_ai.tool.call.result': '{"said":"[redacted]"}',
  });
  expect(JSON.parse(last?.attributes['gen_ai.output.messages'] ?? '')).toEqual([
    {
      role: 'assistant',
      parts: [{ type: 'text', content: 'Your key is [redacted]' }],
      finish_reason: 'stop',
    },
  ]);
  expect(agent?.attributes['gen_ai.output.messages']).toBe(last?.attributes['gen_ai.output.messages']);
});

test('a runtime that is killed in the middle of a turn leaves whole lines, and the next one cuts a torn one off', async () => {
  const path = join(runtime.home.path, 'killed.jsonl');
  const variables = { COPILOT_OTEL_FILE_EXPORTER_PATH: path, OTEL_BSP_SCHEDULE_DELAY: '1' };
  const first = await exporting(variables);
  const session = await first.client.create({
    ...providerOf(runtime.script(callTools({ id: 'c1', name: 'echo', arguments: {} }), say('never'))),
    tools: [echo],
  });
  await session.send('Hi');
  await session.next('external_tool.requested');
  await until(() => linesOf(path).some(({ name }) => name === 'chat scripted'));
  await first.process.signal('SIGKILL');
  const left = linesOf(path).length;
  expect(left).toBeGreaterThan(0);
  appendFileSync(path, '{"type":"span","traceId":"0af7');
  const second = await exporting(variables);
  await (await second.client.create(providerOf(runtime.script(say('hello'))))).turn('Hi');
  await finished(second);
  expect(
    linesOf(path)
      .slice(left)
      .map(({ name }) => name)
      .slice(0, 2),
  ).toEqual(['chat scripted', 'invoke_agent']);
});

test('a collector that is down, or refuses, costs no turn anything: what does not fit is dropped and counted', async () => {
  const down = await exporting({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await closedPort()}`,
    OTEL_BSP_SCHEDULE_DELAY: '1',
  });
  await (await down.client.create(providerOf(runtime.script(say('hello'))))).turn('Hi');
  const began = Date.now();
  await finished(down);
  expect(Date.now() - began).toBeLessThan(15_000);
  await until(() => down.process.stderr.includes('Telemetry cannot be exported to http://127.0.0.1:'));
  const collector = await newCollector();
  collector.status = 400;
  const refused = await toCollector(collector, {
    OTEL_BSP_MAX_QUEUE_SIZE: '1',
    OTEL_BSP_SCHEDULE_DELAY: '60000',
  });
  const session = await refused.client.create({
    ...providerOf(runtime.script(callTools({ id: 'c1', name: 'echo', arguments: {} }), say('done'))),
    tools: [echo],
  });
  const answered = answerEcho(session);
  await session.turn('Hi');
  await answered;
  await finished(refused);
  const dropped = collector.metrics.find(({ name }) => name === 'groundcrew.telemetry.span.dropped');
  expect(dropped?.points.map(({ sum }) => sum)).toEqual([5]);
});

test('what the environment asks for and is not served is said to clients; off, nothing is exported', async () => {
  const collector = await newCollector();
  const warned = async (environment: Readonly<Record<string, string>>) => {
    const { client } = await exporting(environment);
    const model = runtime.script(say('hello'));
    const session = await client.create(providerOf(model));
    const events = await session.turn('Hi');
    await finished({ client });
    const warnings = events.flatMap(({ type, data }) =>
      type === 'session.warning' ? [(data as { readonly message: string }).message] : [],
    );
    return { warnings, trace: model.requests[0]?.headers.traceparent };
  };
  const { warnings } = await warned({
    COPILOT_OTEL_ENABLED: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_TRACES_SAMPLER: 'odd',
    OTEL_BSP_MAX_QUEUE_SIZE: 'many',
  });
  expect(warnings).toEqual([
    "OTEL_TRACES_SAMPLER 'odd' is not known: every trace is kept.",
    "OTEL_EXPORTER_OTLP_PROTOCOL 'grpc' is not served: it is http/json or http/protobuf. It goes as http/json.",
    'OTEL_BSP_MAX_QUEUE_SIZE is no whole number: it is 2048.',
  ]);
  const posts = collector.posted.length;
  const off = await warned({ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  expect(off).toEqual({ warnings: [], trace: undefined });
  expect((await warned({ COPILOT_OTEL_ENABLED: 'false' })).trace).toBeUndefined();
  expect(collector.posted).toHaveLength(posts);
});
