import type { AgentDefinition } from '../log/agent-task.js';

/** An agent as clients see it. */
export function shownAgent(agent: AgentDefinition, { includesPrompt = false } = {}) {
  const { name, displayName, description, tools, skills, model, path, prompt, source, caps } = agent;
  return {
    id: name,
    name,
    displayName,
    description,
    ...(source !== 'custom' && { source }),
    ...(tools && { tools: [...tools] }),
    ...(skills && { skills: [...skills] }),
    ...(model !== undefined && { model }),
    ...(path !== undefined && { path }),
    ...(caps && { limits: { ...caps } }),
    ...(includesPrompt && { prompt }),
  };
}
