import { tmpdir } from 'node:os';
import { ModelError, type ModelEvent, type ModelProvider, type ModelRequest } from '@groundcrew/models';
import type { AnyEvent } from '@groundcrew/protocol';
import { expect, test } from 'vitest';
import { systemClock } from '../clock.js';
import { Workers } from '../exec/workers.js';
import { noUserRules } from '../permissions/user-rules.js';
import { Runtime } from '../runtime.js';
import type { Attachment } from '../session/audience.js';
import type { SessionSettings } from '../session/settings.js';
import { memoryStore } from '../store/memory.js';
import { Shells } from '../tools/shell/shells.js';
import type { MakeRoom } from './context.js';

const usage = {
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** A model with room for two messages. */
function smallModel(requests: ModelRequest[]): ModelProvider {
  return {
    id: 'small',
    models: async () => [],
    stream: async function* (request): AsyncGenerator<readonly ModelEvent[]> {
      requests.push(request);
      if (request.messages.length > 2) throw new ModelError('context_too_long', 'too long');
      yield [
        { type: 'text', delta: 'fine' },
        { type: 'end', reason: 'stop', usage },
      ];
    },
  };
}

const settings: SessionSettings = {
  clientName: 'test',
  workingDirectory: tmpdir(),
  streaming: false,
  exclusionWins: true,
  trace: {},
  hasWorkspace: false,
};

/** Two prompts to a session of that model; what was asked of it, and what was told. */
async function converse(makeRoom: MakeRoom | undefined) {
  const requests: ModelRequest[] = [];
  const runtime = new Runtime({
    home: () => ({ directory: tmpdir(), store: memoryStore({ isAlive: () => false }) }),
    openModels: async () => ({
      provider: smallModel(requests),
      defaultModel: 'm',
      info: () => undefined,
      isCopilot: false,
    }),
    builtinTools: () => [],
    shells: new Shells({}),
    jobs: new Workers(),
    userRules: () => noUserRules,
    owner: { runtimeId: 'r', pid: 1, host: 'here' },
    clock: systemClock(),
    version: '0',
    limits: { toolRounds: 10, queuedPrompts: 10, turnMilliseconds: 60_000 },
    sessionIdleSeconds: 0,
    ...(makeRoom && { makeRoom }),
  });
  const events: AnyEvent[] = [];
  let idle = (): void => undefined;
  const attachment: Attachment = {
    clientId: 'c',
    tools: [],
    commands: [],
    elicitation: false,
    requestPermission: false,
    requestUserInput: false,
    requestAutoModeSwitch: false,
    isOld: false,
    tokenProviders: [],
    hear: ({ event }) => {
      events.push(event);
      if (event.type === 'session.idle') idle();
    },
    ask: async (callback) => Promise.reject(new Error(`Nobody answers ${callback}`)),
  };
  const session = await runtime.create({
    sessionId: 's',
    settings: () => settings,
    attachment,
    warnings: [],
  });
  for (const text of ['one', 'two']) {
    const over = new Promise<void>((resolve) => {
      idle = resolve;
    });
    await session.send({ messageId: text, text, mode: 'enqueue' }, {});
    await over;
  }
  const types = events.map(({ type }) => type).filter((type) => /failure|error|message$/.test(type));
  return { sizes: requests.map(({ messages }) => messages.length), types };
}

test('a conversation that does not fit is made shorter and asked again, once for each time it is', async () => {
  const makeRoom: MakeRoom = async ({ error, log }) => {
    const second = log.state.history[1];
    if (error.kind !== 'context_too_long' || !second) return false;
    log.append({ note: 'history.cut', data: { fromEventId: second.eventId } });
    await log.stored();
    return true;
  };
  expect(await converse(makeRoom)).toEqual({
    sizes: [1, 3, 1],
    types: [
      'user.message',
      'system.message',
      'assistant.message',
      'user.message',
      'model.call_failure',
      'assistant.message',
    ],
  });
});

test.each<[string, MakeRoom | undefined]>([
  ['nobody makes room', undefined],
  ['no room can be made', async () => false],
])('when %s, the model is asked without the oldest rounds', async (_, makeRoom) => {
  expect(await converse(makeRoom)).toEqual({
    sizes: [1, 3, 1],
    types: [
      'user.message',
      'system.message',
      'assistant.message',
      'user.message',
      'model.call_failure',
      'assistant.message',
    ],
  });
});
