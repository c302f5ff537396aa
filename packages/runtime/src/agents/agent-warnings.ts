import type { AgentDefinition } from '../log/agent-task.js';

/** What an agent may ask for. */
interface Offers {
  unknownTools(names: readonly string[]): readonly string[];
  hasSkill(name: string): boolean;
  hasModel(model: string): boolean;
}

const mostNames = 10;

/** What an agent that is about to work asks for and does not get: one sentence each. Pure. */
export function agentWarnings(
  { name, tools = [], skills = [], model, source, mcpServers }: AgentDefinition,
  { unknownTools, hasSkill, hasModel }: Offers,
): readonly string[] {
  if (source === 'builtin') return [];
  const missing = skills.filter((skill) => !hasSkill(skill));
  // The tools of clients' agents are looked at when the session's options are.
  const isLookedAt = source === 'custom' && mcpServers === undefined;
  const isModelMissing = model !== undefined && !hasModel(model);
  return [
    ...(isLookedAt ? [] : lacks(name, 'tools', unknownTools(tools))),
    ...lacks(name, 'skills', missing),
    ...(isModelMissing
      ? [`The agent ${name} wants the model ${model}, which is not available: it works with the session's.`]
      : []),
  ];
}

function lacks(agent: string, what: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, mostNames).map((name) => name.slice(0, 64));
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : '';
  return [`The agent ${agent} names ${what} that the session does not have: ${shown.join(', ')}${more}.`];
}
