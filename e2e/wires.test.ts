import { type AskedModel, answer, liveRuntime, say, story } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const look = { name: 'look', description: 'Looks', parameters: { type: 'object' }, skipPermission: true };
const thinksAndLooks = answer({
  reasoning: ['Hm', ' …'],
  chunks: ['I', ' look.'],
  calls: [
    { id: 'call_1', name: 'look', arguments: { at: 'a' } },
    { id: 'call_2', name: 'look', arguments: { at: 'b' } },
  ],
});
const thinksAndSays = answer({ reasoning: ['So.'], chunks: ['Done', '.'] });

interface Service {
  readonly name: string;
  /** What the session says of its provider besides the address. */
  readonly provider: Readonly<Record<string, unknown>>;
  readonly below?: string;
  readonly path: string;
  readonly key: Readonly<Record<string, string>>;
  readonly model: string;
  /** Whether calls are streamed although the session is not. */
  readonly alwaysStreams?: boolean;
}

const services: readonly Service[] = [
  {
    name: 'OpenAI by chat completions',
    provider: { type: 'openai', wireApi: 'completions' },
    path: '/chat/completions',
    key: { authorization: 'Bearer k' },
    model: 'deepseek-chat',
  },
  {
    name: 'OpenAI by responses',
    provider: { type: 'openai', wireApi: 'responses' },
    path: '/responses',
    key: { authorization: 'Bearer k' },
    model: 'gpt-5-mini',
  },
  {
    name: 'Anthropic',
    provider: { type: 'anthropic' },
    path: '/v1/messages',
    key: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
    model: 'claude-sonnet-4-5',
    alwaysStreams: true,
  },
  {
    name: 'Azure by chat completions',
    provider: { type: 'azure' },
    path: '/openai/deployments/gpt-4.1/chat/completions?api-version=2024-10-21',
    key: { 'api-key': 'k' },
    model: 'gpt-4.1',
  },
  {
    name: 'Azure by responses, below /openai/v1',
    provider: { type: 'azure', wireApi: 'responses' },
    below: '/openai/v1',
    path: '/openai/v1/responses',
    key: { 'api-key': 'k' },
    model: 'gpt-5-mini',
  },
];

describe.each(services)('$name', ({ provider, below = '', path, key, model, alwaysStreams }) => {
  const settings = (baseUrl: string) => ({
    model,
    reasoningEffort: 'high',
    tools: [look],
    provider: { ...provider, baseUrl: `${baseUrl}${below}`, apiKey: 'k' },
  });

  async function twoTurns(streaming: boolean) {
    const script = runtime.script(thinksAndLooks, thinksAndSays, say('Bye'));
    const session = await runtime.client.create({ ...settings(script.baseUrl), streaming });
    await session.send('Look');
    for (const result of ['left', 'right']) {
      const { data } = await session.next('external_tool.requested');
      await session.answerTool(data.requestId, { result });
    }
    await session.next('session.idle');
    await session.turn('Bye');
    return { script, session };
  }

  test.each([true, false])('two turns with thoughts and parallel calls, streaming: %s', async (streaming) => {
    const { script, session } = await twoTurns(streaming);
    const received = ['assistant.reasoning_delta', 'assistant.message_delta'];
    const lines = story(session.events).filter((line) =>
      /^(assistant\.(mess|reas)|tool\..*complete)/.test(line),
    );
    expect(lines.filter((line) => !received.some((name) => line.startsWith(name)))).toEqual([
      ...(streaming ? ['assistant.message_start~'] : []),
      'assistant.message "I look." look#call_1 look#call_2',
      ...(streaming ? ['assistant.reasoning~ "Hm …"'] : []),
      'tool.execution_complete call_1 ok "left"',
      'tool.execution_complete call_2 ok "right"',
      ...(streaming ? ['assistant.message_start~'] : []),
      'assistant.message "Done."',
      ...(streaming ? ['assistant.reasoning~ "So."', 'assistant.message_start~'] : []),
      'assistant.message "Bye"',
    ]);
    const deltas = ['"Hm"', '" …"', '"I"', '" look."', '"So."', '"Done"', '"."', '"Bye"'];
    const pieces = lines.filter((line) => received.some((name) => line.startsWith(name)));
    expect(pieces.map((line) => line.slice(line.indexOf(' ') + 1))).toEqual(streaming ? deltas : []);
    expect(script.requests.map((request) => request.path)).toEqual([path, path, path]);
    expect(script.requests[0]?.headers).toMatchObject(key);
    expect(script.requests.map(({ body }) => body.stream ?? false)).toEqual(
      Array.from({ length: 3 }, () => streaming || (alwaysStreams ?? false)),
    );
  });

  test('thoughts go back as they were, after a restart too, and to no other model', async () => {
    const { script, session } = await twoTurns(true);
    expect(script.requests.map(thoughtsIn)).toEqual([[], [first], everyThought]);
    const successor = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }), { hasGaps: true });
    const resumed = await successor.resume(session.sessionId, settings(script.baseUrl));
    script.play(say('Here'), say('Who?'));
    await resumed.turn('Still there?');
    await resumed.call('session.model.switchTo', { modelId: 'other-model' });
    await resumed.turn('And you?');
    expect(script.requests.slice(3).map(thoughtsIn)).toEqual([everyThought, []]);
  });

  const first = 'Hm …';
  // Chat completions want thoughts back only with the calls they led to.
  const everyThought = path.includes('/chat/completions') ? [first] : [first, 'So.'];
});

/** The thoughts that a call takes back to its model, in whatever field. */
function thoughtsIn({ body }: AskedModel): readonly string[] {
  const found: string[] = [];
  JSON.stringify(body, (key, value: unknown) => {
    if (key === 'thinking' && typeof value === 'string') found.push(value);
    if (key === 'reasoning_content') found.push(String(value));
    if (key === 'summary' && Array.isArray(value)) found.push(...value.map(({ text }) => String(text)));
    return value;
  });
  return found;
}
