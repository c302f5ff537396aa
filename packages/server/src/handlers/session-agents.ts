import type { JsonObject, Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

export const sessionAgentsHandlers: SessionHandlers<Pick<Methods, 'session.agent.list'>> = {
  async 'session.agent.list'({ includePrompt }, { session }) {
    const { customAgents = [] } = session.currentSettings;
    return { agents: customAgents.map((agent) => described(agent, includePrompt ?? false)) };
  },
};

function described(agent: JsonObject, includePrompt: boolean) {
  const { tools, skills, model, prompt } = agent;
  const name = String(agent.name);
  return {
    id: name,
    name,
    displayName: textOr(agent.displayName, name),
    description: textOr(agent.description, ''),
    ...(Array.isArray(tools) && { tools: tools.map(String) }),
    ...(Array.isArray(skills) && { skills: skills.map(String) }),
    ...(typeof model === 'string' && { model }),
    ...(includePrompt && typeof prompt === 'string' && { prompt }),
  };
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}
