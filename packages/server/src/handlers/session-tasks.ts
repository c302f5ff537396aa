import { randomUUID } from 'node:crypto';
import { charactersIn, type Methods } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { Refusal } from '../failure.js';
import type { SessionCallContext, SessionHandlers } from '../handler.js';

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
    const { agents, tools, clientTasks } = session;
    return {
      tasks: [...(await agents.tasks()), ...(await tools.shellTasks.list()), ...(await clientTasks.list())],
    };
  },
  async 'session.tasks.register'(
    { clientTaskId, description, displayName, cancellable, ...params },
    context,
  ) {
    const { session } = context;
    const wish = {
      clientTaskId,
      description,
      cancellable,
      ...(displayName !== undefined && { displayName }),
    };
    return session.clientTasks.register(ownerOf(context), wish, params.expectedSequence);
  },
  async 'session.tasks.update'({ id, sequence, update }, { session, client }) {
    requireResultSize(update);
    return session.clientTasks.update(client.id, id, { sequence, update });
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
    const { agents, tools, clientTasks } = session;
    const progress = (await agents.progress(id)) ?? (await clientTasks.progress(id));
    return { progress: progress ?? (await tools.shellTasks.progress(id)) ?? null };
  },
  async 'session.tasks.readOutput'({ id, ...how }, { session, signal }) {
    return session.tools.shellTasks.read(id, how, signal);
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
    const cancelled = (await session.clientTasks.cancel(id)) ?? (await session.tools.shellTasks.cancel(id));
    return { cancelled: cancelled ?? (await (await session.load()).subAgents.stop(id)) };
  },
  async 'session.tasks.remove'({ id }, { session }) {
    const removed = await session.clientTasks.remove(id);
    return { removed: removed ?? (await (await session.load()).subAgents.remove(id)) };
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

/** An extension by its id; an app by the name it gave, else by its connection. */
function ownerOf({ client, session }: SessionCallContext) {
  const { id: clientId, extension } = client;
  if (extension)
    return {
      clientId,
      participantId: `extension:${extension.id}`,
      kind: 'extension' as const,
      displayName: extension.name,
      source: extension.id,
    };
  const { clientName } = session.currentSettings;
  return {
    clientId,
    participantId: `sdk:${clientName ?? clientId}`,
    kind: 'sdk' as const,
    ...(clientName !== undefined && { displayName: clientName }),
  };
}

const largestResult = 256 * 1024;

/** It is a part of every list of tasks. */
function requireResultSize(update: { readonly kind: string; readonly result?: unknown }): void {
  const size = charactersIn(update.result);
  if (size > largestResult)
    throw new Refusal(`'update.result' has ${size} characters, at most ${largestResult} are taken`);
}

/** The agent that the root agent waits for. */
async function promotable(session: Session) {
  const tasks = await session.agents.tasks();
  return tasks.find((task) => task.canPromoteToBackground && task.depth === 1);
}
