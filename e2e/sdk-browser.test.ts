import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { callTools, say } from '@groundcrew/testkit';
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { token, WebWorld } from './web-world.js';

type Browser = typeof import('@groundcrew/sdk/browser');

const file = fileURLToPath(new URL('../packages/sdk/dist/browser/browser.js', import.meta.url));
const world = new WebWorld([
  say('Hello, page'),
  callTools({ id: 'c1', name: 'where', arguments: { order: 'A-17' } }),
  say('It is on its way'),
  say('again'),
  callTools({ id: 'c2', name: 'where', arguments: { order: 'B-1' } }),
  say('Found it'),
]);
let sdk: Browser;

beforeAll(async () => {
  sdk = await inBareContext();
  await world.start();
});
afterAll(() => world.stop());

/** What every browser has, and nothing else: no `process`, `Buffer`, `require`, `setImmediate`. */
const ofBrowsers = [
  'AbortController',
  'AbortSignal',
  'DOMException',
  'Event',
  'EventTarget',
  'ReadableStream',
  'Response',
  'TextDecoder',
  'TextEncoder',
  'TransformStream',
  'URL',
  'btoa',
  'clearInterval',
  'clearTimeout',
  'console',
  'crypto',
  'performance',
  'queueMicrotask',
  'setInterval',
  'setTimeout',
  'structuredClone',
] as const;

async function inBareContext(): Promise<Browser> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    format: 'iife',
    globalName: 'sdk',
    platform: 'neutral',
    write: false,
  });
  const names = Object.fromEntries(ofBrowsers.map((name) => [name, globalThis[name]]));
  const context = createContext({ ...names, WebSocket });
  return runInContext(`${outputFiles[0]?.text}; sdk`, context) as Browser;
}

function client() {
  const url = `${world.url.replace('http', 'ws')}/rpc`;
  return new sdk.Client({ connection: sdk.RuntimeConnection.forWebSocket(url, { connectionToken: token }) });
}

test('the SDK for browsers has nothing of Node, and at most 30 KB when it is compressed', () => {
  const code = readFileSync(file, 'utf8');
  expect(code.match(/\bnode:|\brequire\(|\bprocess\.|\bBuffer\.from/g)).toBe(null);
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(30 * 1024);
});

test('a page makes a session over a WebSocket, follows a turn and folds it into what a screen shows', async () => {
  const page = client();
  const session = await page.createSession({ streaming: true, onPermissionRequest: sdk.approveAll });
  let transcript = sdk.emptyTranscript;
  session.on((event) => {
    transcript = sdk.foldTranscript(transcript, event);
  });
  expect((await session.sendAndWait('Hello'))?.data.content).toBe('Hello, page');
  expect(transcript.main.items.map((item) => ('text' in item ? item.text : item.type))).toEqual([
    'Hello',
    'Hello, page',
  ]);
  await page.stop();
});

test('a tool of the page is called, its arguments checked by the zod of the page', async () => {
  const z = await import('zod');
  const page = client();
  const where = sdk.defineTool('where', {
    description: 'Where an order is',
    parameters: z.object({ order: z.string() }),
    handler: ({ order }) => `${order} is on its way`,
    skipPermission: true,
  });
  const session = await page.createSession({ tools: [where] });
  const seen: unknown[] = [];
  session.on('tool.execution_complete', ({ data }) => seen.push(data.result?.content));
  expect((await session.sendAndWait('Where is it?'))?.data.content).toBe('It is on its way');
  expect(seen).toEqual(['A-17 is on its way']);
  await page.stop();
});

test('a wrong token, and what a browser cannot do, are errors that say so', async () => {
  const url = `${world.url.replace('http', 'ws')}/rpc`;
  const wrong = new sdk.Client({
    connection: sdk.RuntimeConnection.forWebSocket(url, { connectionToken: 'wrong' }),
  });
  await expect(wrong.ping()).rejects.toThrow('or it refuses this page');
  await expect(new sdk.Client().ping()).rejects.toThrow('RuntimeConnection.forWebSocket');
  const carrier = new sdk.Client({
    connection: sdk.RuntimeConnection.forWebSocket(url, { connectionToken: token }),
    onModelRequest: async () => new Response(''),
  });
  await expect(carrier.ping()).rejects.toThrow('onModelRequest has no effect in a browser');
});

test('a turn is read by the Vercel AI SDK as one of its UI messages: text, tools, steps', async () => {
  const page = client();
  const session = await page.createSession({
    streaming: true,
    tools: [
      sdk.defineTool('where', {
        parameters: { type: 'object', properties: { order: { type: 'string' } } },
        handler: () => 'on its way',
        skipPermission: true,
      }),
    ],
  });
  await session.sendAndWait('first');
  const stream = sdk.uiMessageStream(session, 'Where is B-1?') as ReadableStream<UIMessageChunk>;
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream })) last = message;
  expect(last?.parts).toEqual([
    { type: 'step-start' },
    {
      type: 'dynamic-tool',
      toolName: 'where',
      toolCallId: 'c2',
      state: 'output-available',
      input: { order: 'B-1' },
      output: 'on its way',
    },
    { type: 'step-start' },
    { type: 'text', text: 'Found it', state: 'done' },
  ]);
  await page.stop();
});
