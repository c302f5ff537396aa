import { randomUUID } from 'node:crypto';
import type { Methods, ParsedParams } from '@groundcrew/protocol';
import type { Prompt } from '@groundcrew/runtime';
import { Refusal } from '../failure.js';
import type { SessionCallContext, SessionHandlers } from '../handler.js';
import { followed, sendAndFollow } from '../prompt-end.js';
import { messageOf, settingsOf, submit } from '../send-prompt.js';

type Names =
  | 'session.cancelAllBackgroundAgents'
  | 'session.interruptMainTurn'
  | 'session.sendAndWait'
  | 'session.sendMessages';

export const sessionSendHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.sendAndWait'(params, context) {
    return sendAndFollow(params, context);
  },
  async 'session.sendMessages'(params, context) {
    const { messages, wait = false } = params;
    const { session } = context;
    if (messages.length > mostMessages)
      throw new Refusal(`${messages.length} messages came at once, at most ${mostMessages} are taken`);
    const isInto = params.mode === 'immediate' && (await session.load()).isAnswering;
    const { prompts, messageIds } = isInto ? apart(params) : together(params);
    const last = prompts.at(-1);
    if (!last) return { messageIds };
    if (last.isBare) await requireHistory(context);
    const send = async () => {
      for (const prompt of prompts) await submit(prompt, params, context);
    };
    const { messageId, isBare = false } = last;
    await (wait ? followed(context, { messageId, isBare }, send) : send());
    return { messageIds };
  },
  async 'session.interruptMainTurn'({ flushQueued = false }, { session }) {
    const conversation = await session.load();
    if (!conversation.isAnswering) return { interrupted: false };
    if (!flushQueued) await conversation.withdraw(() => true);
    return { interrupted: await conversation.interruptMain() };
  },
  async 'session.cancelAllBackgroundAgents'(_params, { session }) {
    const { subAgents } = await session.load();
    const tasks = await session.agents.tasks();
    const working = tasks.filter(
      ({ status, executionMode }) => status === 'running' && executionMode === 'background',
    );
    const stopped = await Promise.all(working.map(({ id }) => subAgents.stop(id)));
    return stopped.filter(Boolean).length;
  },
};

const mostMessages = 100;

type Batch = ParsedParams<Methods['session.sendMessages']>;

/** One prompt that a turn answers: the last message, with those before it. */
function together(params: Batch): { readonly prompts: readonly Prompt[]; readonly messageIds: string[] } {
  const messages = params.messages.map((each) => ({ messageId: randomUUID(), ...messageOf(each) }));
  const last = messages.at(-1);
  const settings = settingsOf(params);
  const messageIds = messages.map(({ messageId }) => messageId);
  if (!last) {
    const bare: Prompt = { messageId: randomUUID(), text: '', ...settings, mode: 'enqueue', isBare: true };
    return { prompts: [bare], messageIds };
  }
  const earlier = messages.slice(0, -1);
  const prompt: Prompt = { ...last, ...settings, ...(earlier.length > 0 && { earlier }) };
  return { prompts: [prompt], messageIds };
}

/** Words for the running turn, one after the other. */
function apart(params: Batch): { readonly prompts: readonly Prompt[]; readonly messageIds: string[] } {
  const settings = settingsOf(params);
  const prompts = params.messages.map((each) => ({
    messageId: randomUUID(),
    ...messageOf(each),
    ...settings,
  }));
  return { prompts, messageIds: prompts.map(({ messageId }) => messageId) };
}

async function requireHistory({ session }: SessionCallContext): Promise<void> {
  const { userTurns, inbox } = await session.state();
  if (userTurns === 0 && inbox.length === 0)
    throw new Refusal('There is nothing to go on from: the session has no message yet.');
}
