import { randomUUID } from 'node:crypto';
import type { Methods } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.tasks.${string}` | 'session.fleet.start'>;

export const sessionTasksHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.tasks.startAgent'({ agentType, prompt, name, description = '', model }, { session }) {
    const agentId = await session.agents.start({
      agentType,
      prompt,
      name,
      description,
      ...(model && { model }),
    });
    return { agentId };
  },
  async 'session.tasks.list'(_params, { session }) {
    return { tasks: await session.agents.tasks() };
  },
  async 'session.tasks.refresh'() {
    return {};
  },
  async 'session.tasks.waitForPending'(_params, { session, signal }) {
    const { subAgents } = await session.load();
    while (subAgents.isBusy) await subAgents.change(signal);
    return {};
  },
  async 'session.tasks.getProgress'({ id }, { session }) {
    return { progress: (await session.agents.progress(id)) ?? null };
  },
  async 'session.tasks.getCurrentPromotable'(_params, { session }) {
    const task = await promotable(session);
    return task ? { task } : {};
  },
  async 'session.tasks.promoteToBackground'({ id }, { session }) {
    return { promoted: (await session.load()).subAgents.promote(id) };
  },
  async 'session.tasks.promoteCurrentToBackground'(_params, { session }) {
    const task = await promotable(session);
    const isPromoted = task !== undefined && (await session.load()).subAgents.promote(task.id);
    return isPromoted ? { task: { ...task, executionMode: 'background' as const } } : {};
  },
  async 'session.tasks.cancel'({ id }, { session }) {
    return { cancelled: await (await session.load()).subAgents.stop(id) };
  },
  async 'session.tasks.remove'({ id }, { session }) {
    return { removed: await (await session.load()).subAgents.remove(id) };
  },
  async 'session.tasks.sendMessage'({ id, message }, { session }) {
    const sent = await (await session.load()).subAgents.message(id, message);
    return sent ? { sent } : { sent, error: `There is no agent ${id} that takes messages.` };
  },
  async 'session.fleet.start'({ prompt = '' }, { session }) {
    const text = session.agents.fleetPrompt(prompt);
    await session.send({ messageId: randomUUID(), text, mode: 'enqueue' }, {});
    return { started: true };
  },
};

/** The agent that the root agent waits for. */
async function promotable(session: Session) {
  const tasks = await session.agents.tasks();
  return tasks.find((task) => task.canPromoteToBackground && task.depth === 1);
}
