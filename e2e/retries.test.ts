import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { liveRuntime, refuse, say, story } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--stdio'], environment: { GROUNDCREW_RETRY_AFTER_LIMIT: '2' } });
const received = (events: Parameters<typeof story>[0]) =>
  story(events).filter((line) => /^(model|assistant\.message|session\.(info|error|idle))/.test(line));

describe('a service that asks to wait', () => {
  test('is waited for, and every attempt is published with what follows', async () => {
    const replies = [
      refuse(429, 'slow down', { 'retry-after': '0.1' }),
      refuse(500, 'oops', { 'retry-after': '0' }),
    ];
    const { session } = await runtime.session([...replies, say('now')]);
    const events = await session.turn('Hello');
    expect(received(events)).toEqual([
      'model.call_failure~ 429',
      'session.info~ model_retry "The model service failed (429 slow down). Trying again in 0.1 s, as it asks to; this was attempt 1."',
      'model.call_failure~ 500',
      'session.info~ model_retry "The model service failed (500 oops). Trying again in 0 s; this was attempt 2."',
      'assistant.message "now"',
      'session.idle~',
    ]);
    expect(events.find(({ type }) => type === 'model.call_failure')?.data).toEqual({
      source: 'top_level',
      model: 'scripted',
      failureKind: 'api',
      errorType: 'rate_limit',
      errorMessage: '{"message":"slow down"}',
      statusCode: 429,
      durationMs: expect.any(Number),
      initiator: 'user',
    });
  });

  test('longer than the configured limit is not, and the error says how long it would be', async () => {
    const { session, model } = await runtime.session([refuse(429, 'slow down', { 'retry-after': '3' })]);
    const events = await session.turn('Hello');
    expect(received(events)).toEqual([
      'model.call_failure~ 429',
      'session.info~ model_retry "The model service asks to wait 3 seconds, which is longer than it is waited for."',
      'session.error rate_limit "429 slow down"',
      'session.idle~',
    ]);
    expect(events.find(({ type }) => type === 'session.error')?.data).toMatchObject({
      eligibleForAutoSwitch: true,
    });
    expect(model.requests).toHaveLength(1);
  });
});

test('a stream that falls silent is given up after the configured time, and asked for again', async () => {
  let calls = 0;
  const service = createServer((request, response) => {
    request.resume();
    calls += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    response.write(chunk({ content: calls === 1 ? 'half' : 'whole' }, null));
    if (calls === 2) response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const { port } = service.address() as AddressInfo;
  const process = runtime.spawn({ flags: ['--stdio'], environment: { GROUNDCREW_MODEL_IDLE_TIMEOUT: '1' } });
  const client = await runtime.connect(process);
  const provider = { baseUrl: `http://127.0.0.1:${port}` };
  const session = await client.create({ provider, model: 'm', streaming: true });
  const events = await session.turn('Hello');
  const deltas = events.flatMap(({ type, data }) =>
    type === 'assistant.message_delta' ? [data as { messageId: string; deltaContent: string }] : [],
  );
  expect(new Set(deltas.map(({ messageId }) => messageId)).size).toBe(2);
  expect(received(events).filter((line) => !line.startsWith('assistant.message_'))).toEqual([
    'model.call_failure~',
    expect.stringContaining(
      '(The model service stopped sending its answer within 1 seconds). Trying again in',
    ),
    'assistant.message "whole"',
    'session.idle~',
  ]);
  service.closeAllConnections();
  service.close();
});

test('a service that cannot be reached is reported as such', async () => {
  const session = await runtime.client.create({ provider: { baseUrl: 'http://127.0.0.1:9' }, model: 'm' });
  await session.send('Hello');
  const { data } = await session.next('model.call_failure');
  expect(data).toMatchObject({ failureKind: 'transport', errorType: 'network', errorCode: 'ECONNREFUSED' });
  await session.call('session.abort');
  await session.next('session.idle');
});
