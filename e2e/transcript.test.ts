import {
  approveAll,
  defineTool,
  emptyTranscript,
  foldTranscript,
  storedPart,
  type Transcript,
  transcriptOf,
  waitsOf,
} from '@groundcrew/sdk';
import { answer, say, streamChunks } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { sdkWorld } from './sdk-world.js';

const world = sdkWorld();

test('a screen that was there shows what one shows that replays the log, and more while it is there', async () => {
  const look = defineTool('look', { parameters: z.object({}), handler: () => 'a tree' });
  const calls = [{ id: 'c1', name: 'look', arguments: {} }];
  const replies = [answer({ chunks: ['Let me ', 'look.'], calls }), streamChunks('A ', 'tree.'), say('Bye.')];
  let screen: Transcript = emptyTranscript;
  const seen: Transcript[] = [];
  const { session } = await world.session(replies, {
    streaming: true,
    tools: [look],
    onPermissionRequest: approveAll,
    onEvent: (event) => {
      screen = foldTranscript(screen, event);
      seen.push(screen);
    },
  });
  await session.sendAndWait('What is there?');
  await session.sendAndWait('Thanks');

  const replayed = transcriptOf(await session.getMessages());
  expect(storedPart(screen)).toEqual(storedPart(replayed));
  expect(screen.main.items).toMatchObject([
    { type: 'prompt', text: 'What is there?' },
    { type: 'message', text: 'Let me look.' },
    { type: 'tool', name: 'look', state: 'succeeded', output: 'a tree' },
    { type: 'message', text: 'A tree.' },
    { type: 'prompt', text: 'Thanks' },
    { type: 'message', text: 'Bye.' },
  ]);
  expect(seen.some(({ main }) => main.streaming?.text === 'A ')).toBe(true);
  const waits = new Set(seen.flatMap((each) => waitsOf(each).map(({ type }) => type)));
  expect([...waits].sort()).toEqual(['model', 'question', 'tool']);
  expect([screen.isIdle, screen.usage.calls, screen.questions]).toEqual([true, 3, []]);
});
