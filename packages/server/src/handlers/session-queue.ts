import type { EventData, Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.queue.${string}`>;
type AgentMode = NonNullable<EventData<'user.message'>['agentMode']>;

export const sessionQueueHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.queue.pendingItems'(_params, { session }) {
    const prompts = await session.waitingPrompts();
    return {
      items: prompts
        .filter((prompt) => prompt.mode === 'enqueue')
        .map((prompt) => ({
          id: prompt.messageId,
          kind: prompt.isCommand ? ('command' as const) : ('message' as const),
          displayText: prompt.displayText ?? prompt.text,
          agentMode: (prompt.agentMode ?? 'interactive') as AgentMode,
        })),
      steeringMessages: prompts.filter((prompt) => prompt.mode === 'immediate').map((prompt) => prompt.text),
    };
  },
  async 'session.queue.removeMostRecent'(_params, { session }) {
    const last = (await session.waitingPrompts()).at(-1);
    if (!last) return { removed: false };
    const gone = await session.withdraw((prompt) => prompt.messageId === last.messageId);
    return { removed: gone.length > 0 };
  },
  async 'session.queue.hasPending'(_params, { session }) {
    return { hasPending: (await session.waitingPrompts()).length > 0 };
  },
  async 'session.queue.withdrawMessage'({ messageId, expectedPrompt }, { session }) {
    const gone = await session.withdraw(
      (prompt) => prompt.messageId === messageId && prompt.text === expectedPrompt,
    );
    return { removed: gone.length > 0, interrupted: false };
  },
  async 'session.queue.clear'(_params, { session }) {
    await session.withdraw(() => true);
    return null;
  },
};
