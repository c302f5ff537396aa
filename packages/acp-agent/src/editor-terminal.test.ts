import type { AgentContext } from '@agentclientprotocol/sdk';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runInTerminal } from './editor-terminal.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => undefined);

/** What the model reads of a command in a terminal that has been silent for so many seconds. */
async function afterSilence(seconds: number, terminal: Readonly<Record<string, () => Promise<unknown>>>) {
  const asked: string[] = [];
  const usual = { waitForExit: never, currentOutput: never, kill: never, release: never, ...terminal };
  const handle = Object.fromEntries(
    Object.entries(usual).map(([name, answer]) => [
      name,
      () => {
        asked.push(name);
        return answer();
      },
    ]),
  );
  const editor = { createTerminal: async () => ({ id: 't1', ...handle }) };
  const running = runInTerminal(
    {
      editor: editor as unknown as AgentContext, // the end of an editor, which says what the test says
      abilities: { terminal: true },
      workingDirectory: '/',
      ready: async () => undefined,
      isLive: () => true,
      showTerminal: () => undefined,
    },
    { command: 'sleep 1000' },
    { sessionId: 's', toolCallId: 'c', toolName: 'bash', arguments: {} },
    new AbortController().signal,
  );
  await vi.advanceTimersByTimeAsync(seconds * 1_000);
  return { result: (await running).textResultForLlm, asked };
}

test('an editor that never says how a command ended holds up its turn no longer than the command may run', async () => {
  expect(await afterSilence(610, {})).toEqual({
    result: 'The editor never said how it ended; it was stopped after 600 seconds',
    asked: ['waitForExit', 'kill', 'release'],
  });
  expect(await afterSilence(610, { waitForExit: async () => ({ exitCode: 0 }) })).toEqual({
    result: 'The editor never said how it ended; it was stopped after 600 seconds',
    asked: ['waitForExit', 'currentOutput', 'kill', 'release'],
  });
  expect(
    await afterSilence(0, {
      waitForExit: async () => ({ exitCode: 3 }),
      currentOutput: async () => ({ output: 'made\n', truncated: false }),
    }),
  ).toEqual({
    result: 'made\n<exited with exit code 3>',
    asked: ['waitForExit', 'currentOutput', 'release'],
  });
});
