import { type EventData, type JsonObject, type Methods, withoutNulls } from '@groundcrew/protocol';
import type { Prompt } from '@groundcrew/runtime';
import { requirePromptSize } from '../content-sizes.js';
import type { SessionHandlers } from '../handler.js';
import type { QueueArrangement } from '../rare-methods.js';

type Names = Exclude<Extract<keyof Methods, `session.queue.${string}`>, QueueArrangement>;
type AgentMode = NonNullable<EventData<'user.message'>['agentMode']>;

export const sessionQueueHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.queue.appendSteering'(params, { session }) {
    const { messageId, expectedPrompt, agentMode, displayPrompt } = params;
    const added = params.attachments.map(withoutNulls) as JsonObject[];
    const isMeant = (each: Prompt) =>
      each.messageId === messageId &&
      each.mode === 'immediate' &&
      each.text === expectedPrompt &&
      (each.agentMode ?? agentMode) === agentMode;
    const updated = await session.extendPrompt(isMeant, ({ text, displayText = text, attachments = [] }) => {
      const extended = {
        text: `${text}\n\n${params.prompt}`,
        displayText: `${displayText}\n\n${displayPrompt}`,
        ...(added.length > 0 && { attachments: [...attachments, ...added] }),
      };
      requirePromptSize(extended.text, extended.attachments);
      return extended;
    });
    return { updated };
  },
  async 'session.queue.pendingItems'(_params, { session }) {
    const prompts = await session.waitingPrompts();
    return {
      items: prompts
        .filter((prompt) => prompt.mode === 'enqueue')
        .map((prompt) => ({
          id: prompt.messageId,
          kind: prompt.isCommand ? ('command' as const) : ('message' as const),
          displayText: [...(prompt.earlier ?? []), prompt]
            .map(({ text, displayText = text }) => displayText)
            .join('\n\n'),
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
