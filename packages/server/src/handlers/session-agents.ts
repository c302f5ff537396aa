import type { Methods } from '@groundcrew/protocol';
import { requirePromptSize } from '../content-sizes.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.agent.${string}`>;

export const sessionAgentsHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.agent.list'({ includePrompt, includeBuiltInAgents }, { session: { agents } }) {
    const options = {
      includesPrompt: includePrompt ?? false,
      includesBuiltin: includeBuiltInAgents ?? false,
    };
    return { agents: await agents.list(options) };
  },
  async 'session.agent.getCurrent'(_params, { session: { agents } }) {
    return { agent: (await agents.selection.current()) ?? null };
  },
  async 'session.agent.select'({ name }, { session: { agents } }) {
    return { agent: await agents.selection.select(name) };
  },
  async 'session.agent.deselect'(_params, { session: { agents } }) {
    await agents.selection.deselect();
    return null;
  },
  async 'session.agent.setPrompt'({ id, prompt }, { session: { agents } }) {
    requirePromptSize(prompt);
    await agents.setPrompt(id, prompt);
    return {};
  },
  async 'session.agent.reload'(_params, { session: { agents } }) {
    await agents.refresh({ isForced: true });
    return { agents: await agents.list() };
  },
};
