import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, say, type WireSession } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { testServer } from './mcp-world.js';

const runtime = liveRuntime();

interface Entry {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
  readonly tokens: number;
  readonly parentId?: string;
}

interface Attribution {
  readonly totalTokens: number;
  readonly limit: number;
  readonly bufferTokens: number;
  readonly compactionThreshold: number;
  readonly categories: Readonly<Record<string, number>>;
  readonly entries: readonly Entry[];
  readonly compactions: { readonly count: number };
}

const attributionOf = async (session: WireSession) =>
  (await session.call<{ contextAttribution: Attribution }>('session.metadata.getContextAttribution'))
    .contextAttribution;
const infoOf = async (session: WireSession) => {
  const limits = { promptTokenLimit: 100_000, outputTokenLimit: 1_000 };
  const { contextInfo } = await session.call<{ contextInfo: Record<string, number> }>(
    'session.metadata.contextInfo',
    limits,
  );
  return contextInfo;
};
/** A turn with one call, which gets this answer. */
async function lookOnce(session: WireSession, result: string): Promise<void> {
  await session.send('Look');
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result });
  await session.untilIdle();
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);

test('the window is attributed to servers, instructions, tools and messages, and all of it adds up', async () => {
  const workingDirectory = join(runtime.home.path, 'attributed');
  mkdirSync(workingDirectory);
  const rule = 'Use tabs. '.repeat(200);
  writeFileSync(join(workingDirectory, 'AGENTS.md'), rule);
  const description = 'Echoes what it is given. '.repeat(40);
  const { session } = await runtime.session(
    [callTools({ id: 'c', name: 'look', arguments: { at: 'x'.repeat(4_000) } }), say('done')],
    {
      workingDirectory,
      mcpServers: { srv: testServer({ description }) },
      tools: [{ name: 'look', skipPermission: true }],
    },
  );
  const before = await attributionOf(session);
  expect(before.categories.customInstructions).toBeGreaterThanOrEqual(500);
  await lookOnce(session, 'Something');
  const { categories, entries, totalTokens, limit, ...rest } = await attributionOf(session);
  expect(sum(Object.values(categories))).toBe(limit);
  expect(sum(entries.flatMap(({ parentId, tokens }) => (parentId === undefined ? [tokens] : [])))).toBe(
    totalTokens,
  );
  for (const { id, tokens } of entries.filter(({ parentId }) => parentId === undefined))
    expect(sum(entries.filter(({ parentId }) => parentId === id).map((entry) => entry.tokens))).toBe(tokens);
  expect(rest).toMatchObject({ compactionThreshold: limit * 0.8, compactions: { count: 0 } });
  const ofServer = entries.filter(({ kind }) => kind === 'mcpTool');
  expect(sum(ofServer.map(({ tokens }) => tokens))).toBe(categories.mcpTools);
  expect(ofServer.find(({ label }) => label === 'srv-echo')?.tokens).toBeGreaterThan(250);
  expect(categories.customInstructions).toBeGreaterThanOrEqual(rule.trim().length / 4);
  expect(entries.find(({ label }) => label === 'AGENTS.md')).toMatchObject({ kind: 'instructions' });
  expect(entries.find(({ id }) => id === 'messages:assistant')?.tokens).toBeGreaterThan(1_000);
  const info = await infoOf(session);
  expect(info).toMatchObject({ mcpToolsTokens: categories.mcpTools, totalTokens });
  expect(info.systemTokens).toBe((categories.systemPrompt ?? 0) + (categories.customInstructions ?? 0));
});

test('the threshold is the one that the session sets, and the whole window where nothing is summarised', async () => {
  const set = { backgroundCompactionThreshold: 0.5, bufferExhaustionThreshold: 0.9 };
  const { session } = await runtime.session([], { infiniteSessions: set });
  expect(await infoOf(session)).toMatchObject({ compactionThreshold: 50_000 });
  const { limit, compactionThreshold, bufferTokens } = await attributionOf(session);
  expect([compactionThreshold, bufferTokens]).toEqual([limit / 2, limit / 2]);
  const { session: other } = await runtime.session([], { infiniteSessions: { enabled: false } });
  expect(await infoOf(other)).toMatchObject({ compactionThreshold: 100_000 });
});

test('instructions that the app leaves out of the prompt are not counted', async () => {
  const workingDirectory = join(runtime.home.path, 'left-out');
  mkdirSync(workingDirectory);
  writeFileSync(join(workingDirectory, 'AGENTS.md'), 'Use tabs. '.repeat(200));
  const systemMessage = { mode: 'customize', sections: { custom_instructions: { action: 'remove' } } };
  const { session } = await runtime.session([], { workingDirectory, systemMessage });
  expect((await attributionOf(session)).categories.customInstructions).toBe(0);
});

test('the heaviest messages are those that the model sees, with the arguments of calls', async () => {
  interface Heavy {
    readonly totalTokens: number;
    readonly messages: readonly { readonly label: string; readonly role: string; readonly tokens: number }[];
  }
  const heaviest = (session: WireSession, limit?: number) =>
    session.call<Heavy>('session.metadata.getContextHeaviestMessages', { ...(limit && { limit }) });
  const { session } = await runtime.session(
    [
      callTools({ id: 'c', name: 'look', arguments: { at: 'x'.repeat(8_000) } }),
      say('done'),
      say('<overview>We looked.</overview><checkpoint_title>Looked</checkpoint_title>'),
    ],
    { tools: [{ name: 'look', skipPermission: true }] },
  );
  await lookOnce(session, 'Nothing');
  const { messages } = await heaviest(session, 1);
  expect(messages).toEqual([
    expect.objectContaining({ role: 'assistant', label: expect.stringMatching(/^look /) }),
  ]);
  expect(messages[0]?.tokens).toBeGreaterThan(2_000);
  expect((await session.call<{ success: boolean }>('session.history.compact')).success).toBe(true);
  const after = await heaviest(session);
  expect(after.messages.map(({ role }) => role)).toEqual(['user']);
  expect(after.totalTokens).toBeLessThan(2_000);
  expect((await attributionOf(session)).compactions).toEqual({ count: 1 });
});
