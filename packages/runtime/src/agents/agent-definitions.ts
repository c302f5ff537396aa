import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '@groundcrew/protocol';
import type { AgentCaps, AgentDefinition } from '../log/agent-task.js';

/** Two agents have the same name, and nothing says which one is meant. */
class AgentClash extends Error {
  override readonly name = 'AgentClash';
}

/** The agents that this program brings along. */
export const builtinAgents: readonly AgentDefinition[] = [
  {
    name: 'explore',
    displayName: 'Explore',
    description: 'Answers questions about files and code quickly; changes nothing.',
    tools: ['view', 'grep', 'glob', 'web_fetch', 'skill'],
    prompt:
      'You explore files to answer one question. Look at what is needed and no more, several things at a time. You cannot change anything. Answer briefly: what you found, with paths and line numbers, and what you could not find.',
    infer: true,
    source: 'builtin',
  },
  {
    name: 'task',
    displayName: 'Task',
    description: 'Runs builds, tests and the like, and reports briefly.',
    tools: ['bash', 'read_bash', 'stop_bash', 'list_bash', 'view', 'grep', 'glob', 'skill', 'sql'],
    prompt:
      'You run commands for another agent. Run what you were asked to run and wait for its end. When it went well, say so in one line. When it failed, quote the lines of the output that show why. Do not repair anything.',
    infer: true,
    source: 'builtin',
  },
  {
    name: 'general-purpose',
    displayName: 'General purpose',
    description: 'Does a task of several steps on its own, with all tools.',
    prompt:
      'You do one task for another agent, which sees only your last message. Work until the task is done or cannot be done. End with a summary: what you did, what is left, and what the other agent has to know.',
    infer: true,
    source: 'builtin',
  },
  {
    name: 'code-review',
    displayName: 'Code review',
    description: 'Reviews changes and reports what would do harm; changes nothing.',
    tools: ['bash', 'read_bash', 'stop_bash', 'list_bash', 'view', 'grep', 'glob', 'skill'],
    prompt:
      'You review changes to code. Find out what changed, read the code around it, and check what you suspect before you report it. Report only what would do harm: wrong results, crashes, holes, lost data. Give file, line, what happens and why. Say so when there is nothing. Do not change files.',
    infer: true,
    source: 'builtin',
  },
];

/** An agent as an app describes it. */
export function describedAgent(given: JsonObject): AgentDefinition {
  const { displayName, description, tools, prompt, infer, skills, model, reasoningEffort, mcpServers } =
    given;
  const name = String(given.name);
  const caps = isObject(given.limits) ? capsOf(given.limits) : undefined;
  return {
    name,
    displayName: textOr(displayName, name),
    description: textOr(description, ''),
    prompt: textOr(prompt, ''),
    infer: infer !== false,
    source: 'custom',
    ...(Array.isArray(tools) && { tools: tools.map(String) }),
    ...(Array.isArray(skills) && { skills: skills.map(String) }),
    ...(typeof model === 'string' && model !== '' && { model }),
    ...(typeof reasoningEffort === 'string' && reasoningEffort !== '' && { reasoningEffort }),
    ...(typeof mcpServers === 'object' && mcpServers !== null && { mcpServers: Object.keys(mcpServers) }),
    ...(caps && { caps }),
  };
}

/** Whose agents a client may not name again. */
interface Owners {
  readonly owner: string;
  isAttached(clientId: string): boolean;
}

/**
 * Settings whose agents say who brought them. What this client names takes the place of what it named before; agents of
 * others that are attached stay. Throws AgentClash for a name that another client means otherwise.
 */
export function withOwners<S extends { readonly customAgents?: readonly JsonObject[] }>(
  settings: S,
  before: S | undefined,
  { owner, isAttached }: Owners,
): S {
  const { customAgents } = settings;
  if (!customAgents || customAgents === before?.customAgents) return settings;
  const others = (before?.customAgents ?? []).filter(
    (agent) => agent.owner !== owner && isAttached(String(agent.owner)),
  );
  for (const agent of customAgents) {
    const other = others.find(({ name }) => name === agent.name);
    if (other && !isDeepStrictEqual(meaningOf(other), meaningOf(agent)))
      throw new AgentClash(
        `Custom agent name clash: ${String(agent.name)} was described otherwise by another connection`,
      );
  }
  const own = customAgents.map((agent): JsonObject => ({ ...agent, owner }));
  const rest = others.filter(({ name }) => !own.some((agent) => agent.name === name));
  return { ...settings, customAgents: [...rest, ...own] };
}

/** What an agent is, servers and all. */
function meaningOf(agent: JsonObject): unknown {
  return [describedAgent(agent), agent.mcpServers ?? null];
}

/** Limits among other fields; undefined when there is none. */
export function capsOf(given: Readonly<Record<string, unknown>>): AgentCaps | undefined {
  const caps = Object.fromEntries(
    capNames.flatMap((name) => {
      const value = given[name];
      return typeof value === 'number' && value >= 0 ? [[name, value]] : [];
    }),
  );
  return Object.keys(caps).length === 0 ? undefined : caps;
}

export const capNames = ['maxTokens', 'maxCalls', 'maxCost', 'maxSeconds'] as const;

/** Every agent of several lists, the first of each name. */
export function firstOfEach(...lists: readonly (readonly AgentDefinition[])[]): readonly AgentDefinition[] {
  const known = new Map<string, AgentDefinition>();
  for (const agent of lists.flat()) if (!known.has(agent.name)) known.set(agent.name, agent);
  return [...known.values()];
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}
