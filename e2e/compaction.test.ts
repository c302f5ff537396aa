import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  answer,
  callTools,
  hold,
  liveRuntime,
  providerOf,
  refuse,
  type ScriptedModel,
  say,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { agentModel, begin, call as callNow, say as sayNow } from './agent-world.js';
import { RecordingProxy } from './recording-proxy.js';

const runtime = liveRuntime({ flags: ['--port', '0'] });

const summary = say(
  '<overview>We talk.</overview><history>1. We talked.</history><checkpoint_title>All about talk</checkpoint_title>',
);
/** A window in which the prompt and the tools of the runtime leave room for some messages. */
const window = (tokens: number) => ({ modelCapabilities: { limits: { max_prompt_tokens: tokens } } });
const always = {
  infiniteSessions: { backgroundCompactionThreshold: 0.001, bufferExhaustionThreshold: 0.001 },
};
const never = { infiniteSessions: { enabled: false } };

const messagesOf = (model: ScriptedModel, call: number) =>
  (model.requests[call]?.body.messages ?? []).slice(1).map(({ role, content }) => [role, String(content)]);
const isSummaryRequest = (model: ScriptedModel, call: number) =>
  messagesOf(model, call)
    .at(-1)?.[1]
    ?.startsWith(
      'Please create a detailed summary of the conversation so far. The history is being compacted',
    ) ?? false;

describe('a window that fills', () => {
  test('is compacted before the call: a summary and the user’s messages stand in the place of the rest', async () => {
    const { session, model } = await runtime.session([say('one'), summary, say('two'), say('three')], always);
    await session.turn('First thing');
    const second = await session.turn('Second thing', { requestHeaders: { 'x-of-the-prompt': 'yes' } });
    expect(isSummaryRequest(model, 1)).toBe(true);
    expect([0, 1, 2].map((call) => model.requests[call]?.headers['x-of-the-prompt'])).toEqual([
      undefined,
      'yes',
      'yes',
    ]);
    expect(
      messagesOf(model, 1)
        .slice(0, -1)
        .map(([role]) => role),
    ).toEqual(['user', 'assistant', 'user']);
    expect(model.requests[1]?.body).toMatchObject({ tool_choice: 'none' });
    const [only = [], ...rest] = messagesOf(model, 2);
    expect(rest).toEqual([]);
    expect(only[1]).toMatch(
      /^Some of the conversation history has been summarized to free up context\.\n\nYou were originally given instructions from a user over one or more turns\. Here were the user messages:\n<user_message>\nFirst thing\n<\/user_message>\n<user_message>\nSecond thing\n<\/user_message>\n\nHere is a summary of the prior context:\n<summary>\n<overview>We talk\./,
    );
    const durable = second.filter(({ ephemeral, type }) => !ephemeral && /compaction|usage/.test(type));
    expect(durable.map(({ type }) => type)).toEqual([
      'session.compaction_start',
      'session.compaction_complete',
      'session.usage_checkpoint',
    ]);
    expect(durable[2]?.data).toEqual({ totalNanoAiu: 0 });
    const complete = second.find(({ type }) => type === 'session.compaction_complete');
    expect(complete?.data).toMatchObject({
      success: true,
      trigger: 'threshold',
      checkpointNumber: 1,
      messagesRemoved: 2,
      compactionTokensUsed: { inputTokens: 7, outputTokens: 3, model: 'scripted' },
    });
    await session.turn('Third thing');
    expect(messagesOf(model, 3).map(([role]) => role)).toEqual(['user', 'assistant', 'user']);
    const { checkpointPath = '' } = (complete?.data ?? {}) as { checkpointPath?: string };
    expect(checkpointPath).toMatch(/checkpoints.001-all-about-talk\.md$/);
    expect(readFileSync(checkpointPath, 'utf8')).toBe(
      '<overview>We talk.</overview><history>1. We talked.</history>\n',
    );
    expect(readFileSync(join(checkpointPath, '../index.md'), 'utf8')).toBe(
      '| # | Title | File |\n| --- | --- | --- |\n| 1 | All about talk | 001-all-about-talk.md |\n',
    );
  });

  test('is left alone where infinite sessions are off', async () => {
    const { session, model } = await runtime.session([say('one'), say('two')], never);
    await session.turn('First');
    await session.turn('Second');
    expect(messagesOf(model, 1)).toHaveLength(3);
    expect(session.events.filter(({ type }) => /compaction/.test(type))).toEqual([]);
  });

  test('is left as it was when the turn that waits for the summary is aborted, and the next turn works', async () => {
    const held = hold(summary);
    const { session, model } = await runtime.session([say('one'), held.reply, say('two')], always);
    await session.turn('First');
    await session.send('Second');
    await session.next('session.compaction_start');
    await session.call('session.abort');
    const { data } = await session.next('session.compaction_complete');
    expect(data).toMatchObject({ success: false, error: expect.stringContaining('aborted') as string });
    await session.untilIdle();
    held.release();
    await session.turn('Third');
    expect(messagesOf(model, 2).map(([role]) => role)).toEqual(['user', 'assistant', 'user', 'user']);
  });

  test('is compacted beside the turn at the lower threshold, and the turn does not wait', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const model = runtime.script(say('one'), say('two'), summary, say('three'));
    const proxy = await RecordingProxy.open(model.baseUrl, (body) =>
      body.includes('Please create a detailed summary') ? released : undefined,
    );
    const session = await runtime.client.create({
      ...providerOf({ ...model, baseUrl: proxy.baseUrl }),
      infiniteSessions: { backgroundCompactionThreshold: 0.001, bufferExhaustionThreshold: 0.9 },
    });
    await session.turn('First');
    await session.turn('Second', { requestHeaders: { 'x-of-the-prompt': 'yes' } });
    expect(model.requests).toHaveLength(2);
    expect(session.events.some(({ type }) => type === 'session.compaction_complete')).toBe(false);
    release();
    await session.next('session.compaction_complete');
    await session.turn('Third');
    await proxy.close();
    expect(isSummaryRequest(model, 2)).toBe(true);
    expect([1, 2].map((call) => model.requests[call]?.headers['x-of-the-prompt'])).toEqual([
      'yes',
      undefined,
    ]);
    expect(messagesOf(model, 3).map(([role]) => role)).toEqual(['user', 'assistant', 'user']);
  });

  test('is left as it was when the compaction beside the turn is cancelled, and is compacted by the next wish', async () => {
    const model = runtime.script(say('one'), say('two'), summary, say('three'), summary);
    let isHeld = true;
    const proxy = await RecordingProxy.open(model.baseUrl, (body) =>
      isHeld && body.includes('Please create a detailed summary') ? new Promise(() => undefined) : undefined,
    );
    const session = await runtime.client.create({
      ...providerOf({ ...model, baseUrl: proxy.baseUrl }),
      infiniteSessions: { backgroundCompactionThreshold: 0.001, bufferExhaustionThreshold: 0.9 },
    });
    await session.turn('First');
    await session.turn('Second');
    expect(await session.call('session.history.abortManualCompaction')).toEqual({ aborted: false });
    expect(await session.call('session.history.cancelBackgroundCompaction')).toEqual({ cancelled: true });
    expect((await session.next('session.compaction_complete')).data).toMatchObject({
      success: false,
      error: 'The compaction was cancelled',
    });
    expect(await session.call('session.history.cancelBackgroundCompaction')).toEqual({ cancelled: false });
    isHeld = false;
    expect(await session.call('session.history.compact')).toMatchObject({ success: true });
    await session.turn('Third');
    await proxy.close();
    expect(messagesOf(model, 3).map(([role]) => role)).toEqual(['user', 'user']);
  });

  test('in the middle of a turn keeps its newest rounds as they are', async () => {
    const look = { name: 'look', description: 'Looks', parameters: { type: 'object' }, skipPermission: true };
    const model = runtime.script(
      say('one'),
      callTools({ id: 'c1', name: 'look', arguments: { at: 'here' } }),
      summary,
      say('done'),
    );
    const session = await runtime.client.create({
      ...providerOf(model),
      tools: [look],
      ...window(40_000),
      infiniteSessions: { backgroundCompactionThreshold: 0.3, bufferExhaustionThreshold: 0.3 },
    });
    await session.turn(`Read this: ${'lorem '.repeat(10_000)}`);
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    await session.answerTool(data.requestId, { result: 'dolor '.repeat(2500) });
    await session.next('session.idle');
    expect(isSummaryRequest(model, 2)).toBe(true);
    expect(messagesOf(model, 3).map(([role]) => role)).toEqual(['user', 'assistant', 'tool']);
  });
});

describe('when no summary can be had', () => {
  test('the turn goes on, and clients learn why', async () => {
    const { session, model } = await runtime.session(
      [say('one'), refuse(400, 'not today'), say('two')],
      always,
    );
    await session.turn('First');
    const second = await session.turn('Second');
    expect(messagesOf(model, 2)).toHaveLength(3);
    expect(second.find(({ type }) => type === 'session.compaction_complete')?.data).toMatchObject({
      success: false,
      error: expect.stringContaining('not today') as string,
    });
  });

  test('a full window is cut, with a warning', async () => {
    const { session, model } = await runtime.session(
      [say('one'), refuse(400, 'not today'), say('two')],
      window(30_000),
    );
    await session.turn(`First ${'lorem '.repeat(27_000)}`);
    const second = await session.turn(`Second ${'ipsum '.repeat(10_000)}`);
    expect(messagesOf(model, 2).map(([, text]) => text?.includes('First'))).toEqual([false]);
    expect(second.map(({ type }) => type)).toContain('session.truncation');
  });
});

test('a service that says the conversation is too long gets a summary instead', async () => {
  const tooLong = refuse(400, 'This model’s maximum context length is 10 tokens', {});
  const { session, model } = await runtime.session([say('one'), tooLong, summary, say('two')]);
  await session.turn('First');
  const second = await session.turn('Second');
  expect(isSummaryRequest(model, 2)).toBe(true);
  expect(messagesOf(model, 3)).toHaveLength(1);
  expect(second.find(({ type }) => type === 'session.compaction_start')?.data).toMatchObject({
    trigger: 'context_limit_retry',
  });
});

/** What services answer to a conversation that is too long, by wire. */
const refusals: readonly (readonly [string, object, number, string])[] = [
  [
    'chat completions',
    {},
    400,
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
  ],
  ['chat completions', {}, 400, 'prompt token count of 140000 exceeds the limit of 128000'],
  [
    'chat completions',
    {},
    400,
    'the request exceeds the available context size (4096 tokens), try increasing it',
  ],
  [
    'responses',
    { wireApi: 'responses' },
    400,
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
  ],
  ['messages', { type: 'anthropic' }, 400, 'prompt is too long: 205000 tokens > 200000 maximum'],
  [
    'chat completions',
    {},
    400,
    'The input token count (140000) exceeds the maximum number of tokens allowed (131072).',
  ],
  [
    'chat completions',
    {},
    400,
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  ],
  ['chat completions', {}, 400, 'Please reduce the length of the messages or completion.'],
  ['messages', { type: 'anthropic' }, 400, 'Input is too long for requested model.'],
];

test.each(refusals)(
  'a service on %s (%j) that answers %i %s gets a summary, and the turn goes on',
  async (...refusal) => {
    const [, provider, status, words] = refusal;
    const model = runtime.script(say('one'), refuse(status, words, {}), summary, say('two'));
    const session = await runtime.client.create({
      model: 'scripted',
      provider: { baseUrl: model.baseUrl, apiKey: 'k', type: 'openai', ...provider },
    });
    await session.turn('First');
    const second = await session.turn('Second');
    const types = second.map(({ type }) => type).filter((type) => /compaction|session\.error/.test(type));
    expect(types).toEqual(['session.compaction_start', 'session.compaction_complete']);
    expect(model.requests).toHaveLength(4);
  },
);

test.runIf(process.env.FULL_TESTS)(
  'a service that answers 413 is asked as often as any that may be busy, then gets a summary, and the turn goes on',
  async () => {
    const tooLarge = Array.from({ length: 6 }, () => refuse(413, 'Payload too large'));
    const { session, model } = await runtime.session([say('one'), ...tooLarge, summary, say('two')]);
    await session.turn('First');
    const second = await session.turn('Second');
    const types = second.map(({ type }) => type).filter((type) => /compaction|session\.error/.test(type));
    expect(types).toEqual(['session.compaction_start', 'session.compaction_complete']);
    expect(isSummaryRequest(model, 7)).toBe(true);
    expect(model.requests).toHaveLength(9);
  },
);

describe('a service that finds every conversation too long', () => {
  const tooLong = refuse(400, 'This model’s maximum context length is 10 tokens', {});
  const failures = (events: readonly { type: string; data: unknown }[]) =>
    events.flatMap(({ type, data }) =>
      type === 'session.error' ? [(data as { message: string }).message] : [],
    );

  test('is asked at most three times when a summary makes it no shorter, and the error is clear', async () => {
    const bloated = say(`<overview>${'We talked and talked. '.repeat(5000)}</overview>`);
    const { session, model } = await runtime.session([...[say('one'), tooLong, bloated, tooLong]]);
    await session.turn('First');
    const second = await session.turn('Second');
    expect(failures(second)).toEqual([
      expect.stringMatching(/The conversation is too large for the window of scripted even as a summary/),
    ]);
    expect(model.requests.map((_, call) => isSummaryRequest(model, call))).toEqual([
      ...[false, false, true, false],
    ]);
    model.play(say('three'));
    expect(failures(await session.turn('Third'))).toEqual([]);
    expect(messagesOf(model, model.requests.length - 1)[0]?.[1]).toContain('has been summarized');
  });

  test('is asked once when the instructions alone fill its window', async () => {
    const { session, model } = await runtime.session([tooLong], window(100));
    const events = await session.turn('First');
    expect(failures(events)).toEqual([
      expect.stringMatching(
        /The system prompt and the tools alone fill the window of scripted \(about \d+ tokens\)/,
      ),
    ]);
    expect(model.requests).toHaveLength(1);
  });
});

test('an agent that works for another is compacted in its own turn, and the other is not', async () => {
  const isAsk = (messages: readonly string[]) =>
    messages.at(-1)?.startsWith('Please create a detailed summary');
  const { model } = await agentModel({
    ROOT: ({ results }) => (results.length === 0 ? begin(['WORKER']) : sayNow('All done.')),
    WORKER: ({ messages, times }) => {
      if (isAsk(messages)) return sayNow('<overview>Pages were read.</overview>');
      if (messages[0]?.includes('has been summarized')) return sayNow('WORKER is done.');
      return callNow('look', { page: times }, `look-${times}`);
    },
  });
  const session = await runtime.client.create({
    ...model.settings,
    ...window(40_000),
    tools: [{ name: 'look', description: 'Looks', parameters: { type: 'object' }, skipPermission: true }],
    largeOutput: { enabled: false },
    infiniteSessions: { backgroundCompactionThreshold: 0.2, bufferExhaustionThreshold: 0.2 },
  });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.send('ROOT go');
  const idle = session.next('session.idle');
  const answering = (async () => {
    for (let page = 0; page < 2; page += 1) {
      const { data } = await session.next('external_tool.requested');
      await session.answerTool(data.requestId, {
        result: `page ${page} ${'dolor '.repeat(page === 0 ? 12_000 : 10)}`,
      });
    }
  })();
  await Promise.race([answering, idle]);
  await idle;
  await model.close();
  const compactions = session.events.filter(({ type }) => type === 'session.compaction_complete');
  expect(
    compactions.map(({ agentId, data }) => [agentId !== undefined, (data as { success: boolean }).success]),
  ).toEqual([[true, true]]);
  const result = session.events.findLast(({ type }) => type === 'tool.execution_complete');
  expect(JSON.stringify(result?.data)).toContain('WORKER is done.');
});

describe('by a client’s wish', () => {
  test('options without effect are warned about, and what a client names by default is not', async () => {
    const { session } = await runtime.session([]);
    await session.failure('session.history.compact', { trigger: 'manual' });
    await session.failure('session.history.compact', { trigger: 'model_switch', tokenLimit: 9000 });
    const { events } = await session.call<{ events: { type: string; data: { message?: string } }[] }>(
      'session.getMessages',
    );
    const warnings = events.filter(({ type }) => type === 'session.warning');
    expect(warnings.map(({ data }) => data.message)).toEqual([
      expect.stringContaining("'trigger' of session.history.compact has no effect"),
      expect.stringContaining("'tokenLimit' of session.history.compact has no effect"),
    ]);
  });

  test('a session is compacted, with instructions of its own; one without a message is refused, one that was just compacted has nothing to gain', async () => {
    const { session, model } = await runtime.session([say('one'), summary, say('two')]);
    expect((await session.failure('session.history.compact')).message).toBe(
      'Request session.history.compact failed with message: Nothing to compact.',
    );
    await session.turn('First');
    const wish = { customInstructions: 'Mind the gap.' };
    expect(await session.call('session.history.compact', wish)).toMatchObject({
      success: true,
      messagesRemoved: 1,
      summaryContent: expect.stringContaining('<overview>We talk.') as string,
      contextWindow: { messagesLength: 2 },
    });
    expect(messagesOf(model, 1).at(-1)?.[1]).toContain('Mind the gap.');
    expect(await session.call('session.history.compact')).toMatchObject({
      success: false,
      tokensRemoved: 0,
      messagesRemoved: 0,
    });
    await session.turn('Second');
    expect(messagesOf(model, 2)[0]?.[1]).toMatch(/^The conversation history has been summarized/);
    expect(messagesOf(model, 2)).toHaveLength(2);
  });

  test('one that runs can be cancelled, and the conversation stays as it was', async () => {
    const held = hold(summary);
    const { session, model } = await runtime.session([say('one'), held.reply, say('two')]);
    await session.turn('First');
    const compacting = session.call('session.history.compact').catch((error: unknown) => String(error));
    await session.next('session.compaction_start');
    expect(await session.call('session.history.cancelBackgroundCompaction')).toEqual({ cancelled: false });
    expect(await session.call('session.history.abortManualCompaction')).toEqual({ aborted: true });
    await session.next('session.compaction_complete');
    await compacting;
    held.release();
    await session.turn('Second');
    expect(messagesOf(model, 2)).toHaveLength(3);
    expect(await session.call('session.history.abortManualCompaction')).toEqual({ aborted: false });
  });

  test('of several at once each waits for the one before, and the last ones have nothing left to gain', async () => {
    const held = hold(summary);
    const { session, model } = await runtime.session([say('one'), held.reply, say('two'), summary]);
    await session.turn('First');
    const compact = () => session.call<{ success: boolean }>('session.history.compact');
    const first = compact();
    await session.next('session.compaction_start');
    await session.turn('Second');
    const others = [compact(), compact(), compact()];
    held.release();
    const done = await Promise.all([first, ...others]);
    expect(done.map(({ success }) => success).sort()).toEqual([false, false, true, true]);
    for (const _ of [1, 2]) await session.next('session.compaction_complete');
    const types = session.events.map(({ type }) => type).filter((type) => /compaction/.test(type));
    const each = ['session.compaction_start', 'session.compaction_complete'];
    expect(types).toEqual([...each, ...each]);
    expect(model.requests).toHaveLength(4);
  });

  test('a summary for a handoff changes nothing', async () => {
    const { session, model } = await runtime.session([say('one'), summary, say('two')]);
    expect(await session.call('session.history.summarizeForHandoff')).toEqual({ summary: '' });
    await session.turn('First');
    expect(await session.call('session.history.summarizeForHandoff')).toMatchObject({
      summary: expect.stringContaining('# All about talk') as string,
    });
    await session.turn('Second');
    expect(messagesOf(model, 2)).toHaveLength(3);
  });
});

test('what was compacted is found again by recall, word by word and by its id', async () => {
  const { session, model } = await runtime.session([
    answer({ chunks: ['The secret word is xylophone-42.'] }),
    summary,
    callTools({ id: 'c1', name: 'recall', arguments: { query: 'what was the secret word' } }),
    say('done'),
  ]);
  await session.turn('Tell me the secret word');
  await session.call('session.history.compact');
  await session.turn('What was it?');
  expect(messagesOf(model, 3).at(-1)).toEqual([
    'tool',
    expect.stringContaining('The secret word is xylophone-42.') as string,
  ]);
});

test('an agent recalls what it and those it began said, and nothing of others; the root agent recalls all', async () => {
  const query = { query: 'passphrase' };
  const { model } = await agentModel({
    ROOT: ({ results }) => {
      if (results.length === 0) return begin(['SPY', 'KEEPER']);
      return results.length === 2 ? callNow('recall', query) : sayNow(`Root: ${results.at(-1)}`);
    },
    KEEPER: () => sayNow('The passphrase of KEEPER is walnut.'),
    SPY: ({ results }) =>
      results.length === 0 ? callNow('recall', query) : sayNow(`SPY found: ${results[0]}`),
  });
  const session = await runtime.client.create({ ...model.settings });
  const events = await session.turn('ROOT go, the passphrase of the user is hazelnut');
  await model.close();
  const said = (isOf: (agentId: string | undefined) => boolean) =>
    events.flatMap(({ type, data, agentId }) =>
      type === 'assistant.message' && isOf(agentId) ? [(data as { content: string }).content] : [],
    );
  expect(said((agentId) => agentId !== undefined).filter((text) => text.includes('SPY'))).toEqual([
    'SPY found: Nothing was found. Try other words, or fewer.',
  ]);
  const root = said((agentId) => agentId === undefined).at(-1) ?? '';
  expect(root).toContain('The user said');
  expect(root).toMatch(/Another agent said \(.*\):\nThe passphrase of KEEPER is walnut\./);
});

test('a text full of sentences that sound like rules does not fill the window; rules that users gave stay', async () => {
  const pasted = Array.from({ length: 1200 }, (_, index) => `The part ${index} must be fitted with care.`);
  const { session, model } = await runtime.session(
    [...[say('one'), say('two'), say('three'), say('four'), summary, say('five')]],
    window(24_000),
  );
  await session.turn('Build the house.');
  await session.turn('Always paint doors blue.');
  await session.turn(`Here is the standard.\n${pasted.join('\n')}`);
  await session.turn('Go on with the roof.');
  await session.call('session.history.compact');
  await session.turn('And the windows?');
  const [compacted = []] = messagesOf(model, 5);
  const text = compacted[1] ?? '';
  expect(text).toContain('Build the house.');
  expect(text).toContain('Always paint doors blue.');
  expect(text).toContain('Here is the standard.');
  expect(text.match(/must be fitted/g)?.length).toBeLessThan(40);
  expect(text.length).toBeLessThan((24_000 * 4) / 3);
});

test('the log keeps every event, and another process goes on from the summary', async () => {
  const { session, model } = await runtime.session([say('one'), summary, say('two'), say('three')], always);
  await session.turn('First');
  await session.turn('Second');
  await session.call('session.destroy');
  const process = runtime.spawn({ flags: ['--port', '0'] });
  const client = await runtime.connect(process, { hasGaps: true });
  const again = await client.resume(session.sessionId, providerOf(model));
  await again.turn('Third');
  expect(messagesOf(model, 3).map(([role]) => role)).toEqual(['user', 'assistant', 'user']);
  const { events } = await again.call<{ events: { type: string; data: { content?: string } }[] }>(
    'session.getMessages',
  );
  const said = events.flatMap(({ type, data }) => (type === 'user.message' ? [data.content] : []));
  expect(said).toEqual(['First', 'Second', 'Third']);
});

describe('a process that is killed', () => {
  /** A process of its own with a session that is about to be compacted, and whose summary waits. */
  async function aboutToCompact() {
    const held = hold(summary);
    const model = runtime.script(say('one'), held.reply, summary, say('two'), say('three'));
    const process = runtime.spawn({ flags: ['--port', '0'] });
    const client = await runtime.connect(process, { hasGaps: true });
    const session = await client.create({ ...providerOf(model), ...always });
    await session.turn('First');
    await session.send('Second');
    await session.next('session.compaction_start');
    return { held, model, process, session };
  }

  test('while it waits for the summary has lost nothing: the next one compacts again, and goes on', async () => {
    const { model, process, session } = await aboutToCompact();
    await process.signal('SIGKILL');
    const again = await runtime.client.resume(session.sessionId, {
      ...providerOf(model),
      ...always,
      continuePendingWork: true,
    });
    await again.next('session.idle');
    const outcomes = (await again.stored()).flatMap(({ type, data }) =>
      type === 'session.compaction_complete' ? [(data as { success: boolean }).success] : [],
    );
    expect(outcomes).toEqual([false, true]);
    expect(messagesOf(model, 3)).toHaveLength(1);
    expect(messagesOf(model, 3)[0]?.[1]).toContain('<user_message>\nFirst\n</user_message>');
  });

  test('when the summary is stored goes on from it', async () => {
    const { held, model, process, session } = await aboutToCompact();
    held.release();
    await session.next('session.compaction_complete');
    await process.signal('SIGKILL');
    const again = await runtime.client.resume(session.sessionId, { ...providerOf(model), ...always });
    await again.turn('Third');
    const last = messagesOf(model, model.requests.length - 1);
    expect(last[0]?.[1]).toMatch(/^Some of the conversation history has been summarized/);
  });
});

test('between compactions the same bytes are in front of every request, on every wire', async () => {
  for (const provider of [{}, { type: 'openai', wireApi: 'responses' }, { type: 'anthropic' }]) {
    const model = runtime.script(say('one'), summary, say('two'), say('three'), say('four'));
    const proxy = await RecordingProxy.open(model.baseUrl);
    const session = await runtime.client.create({
      model: 'scripted',
      provider: { baseUrl: proxy.baseUrl, apiKey: 'k', ...provider },
    });
    await session.turn('First');
    await session.call('session.history.compact');
    for (const prompt of ['Second', 'Third', 'Fourth']) await session.turn(prompt);
    await proxy.close();
    const [second = '', third = '', fourth = ''] = proxy.bodies.slice(2).map(String);
    // All but the end of the list of messages, and what stands behind it.
    const shared = (one: string, other: string) => {
      let length = 0;
      while (length < one.length && one[length] === other[length]) length += 1;
      return length;
    };
    const upTo = (body: string, word: string) => body.indexOf(word) + word.length;
    expect(shared(second, third)).toBeGreaterThanOrEqual(upTo(second, 'Second'));
    expect(shared(third, fourth)).toBeGreaterThanOrEqual(upTo(third, 'Third'));
  }
});
