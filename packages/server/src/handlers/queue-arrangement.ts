import { randomUUID } from 'node:crypto';
import type { Methods } from '@groundcrew/protocol';
import type { Prompt } from '@groundcrew/runtime';
import { requirePromptSize } from '../content-sizes.js';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';
import type { QueueArrangement } from '../rare-methods.js';
import { messageOf } from '../send-prompt.js';

/** Lets clients order the waiting prompts. A turn may take one up at any time: then it is not in the queue any more. */
export const queueArrangementHandlers: SessionHandlers<Pick<Methods, QueueArrangement>> = {
  async 'session.queue.moveItem'({ id, toPosition }, { session }) {
    const changed = await session.keeper.onLog(({ inbox }) => inbox.move(id, toPosition));
    if (changed === undefined) throw notQueued(id);
    return { changed };
  },
  async 'session.queue.insertAt'({ position, message }, context) {
    const { session, client } = context;
    const { agentMode, requestHeaders: values } = message;
    if (message.source === 'system')
      throw new Refusal("'system' is no source of a prompt that clients put into the queue.");
    session.optionWarnings.add(context.optionWarnings());
    const id = randomUUID();
    const prompt: Prompt = {
      messageId: id,
      ...messageOf(message),
      mode: 'enqueue',
      ...(agentMode !== undefined && { agentMode }),
    };
    const extras = values ? { requestHeaders: { values, strategy: client.dialect.headerStrategy } } : {};
    const place = Math.max(position, 0);
    await session.keeper.onLog((conversation) => conversation.enqueue({ prompt, extras }, place));
    return { id };
  },
  async 'session.queue.removeAt'({ id }, { session }) {
    const gone = await session.withdraw((prompt) => prompt.messageId === id && isQueued(prompt));
    return { removed: gone.length > 0 };
  },
  async 'session.queue.updateText'({ id, prompt: text, displayPrompt: displayText = text }, { session }) {
    requirePromptSize(text);
    requirePromptSize(displayText);
    let isSame = false;
    const isFound = await session.extendPrompt(
      (prompt) => isMeant(prompt, id),
      (prompt) => {
        if (prompt.isCommand || prompt.isBare || prompt.earlier)
          throw new Refusal(`queue_item_not_editable: ${id} is not a single message.`);
        isSame = prompt.text === text && (prompt.displayText ?? prompt.text) === displayText;
        return { text, displayText };
      },
    );
    if (!isFound) throw notQueued(id);
    return { updated: !isSame };
  },
  async 'session.queue.duplicateAt'({ id }, { session }) {
    const copyId = randomUUID();
    const isDone = await session.keeper.onLog(({ inbox }) => inbox.duplicate(id, copyId));
    if (!isDone) throw notQueued(id);
    return { id: copyId };
  },
  async 'session.queue.setDrainPaused'({ paused }, { session }) {
    const isChanged = await session.keeper.onLog(({ inbox }) => inbox.setDrainPaused(paused));
    if (paused && !isChanged)
      throw new Refusal("queue_already_paused: call 'session.queue.setDrainPaused' with paused false first.");
    if (!paused) await (await session.load()).continueWork();
    return null;
  },
  async 'session.queue.sendNow'({ id }, { session }) {
    const conversation = await session.load();
    const waits = conversation.inbox.queued.find((prompt) => prompt.messageId === id);
    if (!waits) throw notQueued(id);
    if (waits.isCommand || waits.isBare)
      throw new Refusal(`queue_item_not_steerable: ${id} is no message for the running turn.`);
    if (!conversation.isAnswering) return { steered: false };
    const steered = await session.extendPrompt(
      (prompt) => isMeant(prompt, id),
      () => ({ mode: 'immediate' }),
    );
    return { steered };
  },
};

function isQueued({ mode }: Prompt): boolean {
  return mode === 'enqueue';
}

function isMeant(prompt: Prompt, id: string): boolean {
  return prompt.messageId === id && isQueued(prompt);
}

function notQueued(id: string): Refusal {
  return new Refusal(`queue_item_not_found: no prompt of the id ${id} waits; a turn may have taken it up.`);
}
