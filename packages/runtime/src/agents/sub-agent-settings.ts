import { isObject, type JsonObject, nearestName } from '@groundcrew/protocol';
import type { AgentCaps, AgentDefinition, AgentTask } from '../log/agent-task.js';
import type { SessionState } from '../log/state.js';
import { ownEntry } from '../own-entry.js';
import type { SessionSettings } from '../settings/session-settings.js';
import { unknownNameWarnings } from '../settings/unknown-names.js';
import { builtinAgents, capNames, capsOf } from './agent-definitions.js';

/** What users and apps say of sub-agents. */
export interface SubAgentSettings {
  readonly maxDepth: number;
  readonly maxConcurrency: number;
  /** By the name of an agent. */
  readonly agents: Readonly<
    Record<string, { readonly model?: string; readonly reasoningEffort?: string; readonly caps?: AgentCaps }>
  >;
  /** Agents that others may not begin. */
  readonly disabled: readonly string[];
  /** For each agent that has none of its own. */
  readonly caps?: AgentCaps;
  /** For all agents below one of the root's, that one included. */
  readonly treeCaps?: AgentCaps;
}

/** What an agent may take: by its own entry, else by its file, else as all of them. */
export function capsOfTask({ agent }: AgentTask, { agents, caps }: SubAgentSettings): AgentCaps {
  return { ...caps, ...agent.caps, ...ownEntry(agents, agent.name)?.caps };
}

/** A setting of sub-agents is not what it has to be. */
class SubAgentSettingsProblem extends Error {
  override readonly name = 'SubAgentSettingsProblem';
}

/** Settings of sub-agents as clients write them: by agent below `agents`, or directly by name. Throws SubAgentSettingsProblem. */
export function subAgentSettings(given: JsonObject | null): Partial<SubAgentSettings> | null {
  if (!given) return null;
  const { disabledSubagents, maxConcurrency, maxDepth, limits, treeLimits } = given;
  const caps = capsIn(limits, 'limits');
  const treeCaps = capsIn(treeLimits, 'treeLimits');
  const disabled = disabledSubagents ?? [];
  if (!Array.isArray(disabled) || !disabled.every((name) => typeof name === 'string'))
    throw new SubAgentSettingsProblem('subagents.disabledSubagents must be names of agents');
  return {
    disabled,
    agents: Object.fromEntries(
      Object.entries(entriesOf(given)).map(([name, entry]) => [name, entryOf(name, entry)]),
    ),
    ...count(maxConcurrency, 'maxConcurrency', 1),
    ...count(maxDepth, 'maxDepth', 0),
    ...(caps && { caps }),
    ...(treeCaps && { treeCaps }),
  };
}

/** What options say of agents to no effect: one sentence each. */
export function ineffectiveOptions(
  { fixed }: Pick<SessionState, 'fixed'>,
  { excludedBuiltinAgents = [] }: SessionSettings,
  own: readonly AgentDefinition[],
): readonly string[] {
  const builtin = builtinAgents.map(({ name }) => name);
  const known = [...own.map(({ name }) => name), ...builtin];
  return [
    ...unknownNameWarnings('excludedBuiltinAgents', excludedBuiltinAgents, {
      known: builtin,
      what: 'built-in agent',
    }),
    ...ineffectiveIn(fixed.subagents ?? null, known),
  ];
}

function ineffectiveIn(given: JsonObject | null, known: readonly string[]): readonly string[] {
  if (!given) return [];
  const { disabled = [] } = subAgentSettings(given) ?? {};
  const entries = Object.entries(entriesOf(given));
  const names = entries.map(([name]) => name);
  return [
    ...unknownNameWarnings('subagents.disabledSubagents', disabled, { known, what: 'agent' }),
    ...unknownNameWarnings('subagents.agents', names, { known, what: 'agent' }),
    ...['limits', 'treeLimits'].flatMap((name) => unknownIn(`subagents.${name}`, given[name], capNames)),
    ...entries.slice(0, mostEntries).flatMap(([name, entry]) => ineffectiveOf(name, entry)),
  ];
}

function ineffectiveOf(name: string, entry: unknown): readonly string[] {
  if (!isObject(entry)) return [];
  const option = `subagents.agents.${name.slice(0, longestName)}`;
  return [
    ...(entry.contextTier === 'long_context'
      ? [
          `The option '${option}.contextTier' has no effect: the model has the window that its service gives it.`,
        ]
      : []),
    ...unknownIn(option, entry, entryNames),
    ...unknownIn(`${option}.limits`, entry.limits, capNames),
  ];
}

function unknownIn(option: string, given: unknown, known: Iterable<string>): readonly string[] {
  if (!isObject(given)) return [];
  const names = [...known];
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  return unknown.slice(0, mostEntries).map((name) => {
    const near = nearestName(name, names);
    const hint = near === undefined ? '' : ` Did you mean '${near}'?`;
    return `The option '${option}.${name.slice(0, longestName)}' is not known, and has no effect.${hint}`;
  });
}

const mostEntries = 20;
const longestName = 64;

const entryNames: ReadonlySet<string> = new Set([
  'model',
  'effortLevel',
  'contextTier',
  'limits',
  ...capNames,
]);

const ownNames = new Set([
  'agents',
  'disabledSubagents',
  'maxConcurrency',
  'maxDepth',
  'limits',
  'treeLimits',
]);

function entriesOf(given: JsonObject): JsonObject {
  const { agents } = given;
  if (agents !== undefined && agents !== null && !isObject(agents))
    throw new SubAgentSettingsProblem('subagents.agents must be settings by the names of agents');
  const named = Object.fromEntries(Object.entries(given).filter(([name]) => !ownNames.has(name)));
  return { ...named, ...(isObject(agents) ? agents : {}) };
}

function entryOf(name: string, entry: unknown): SubAgentSettings['agents'][string] {
  if (entry === null || entry === undefined) return {};
  if (!isObject(entry)) {
    const near = nearestName(name, ownNames);
    const hint = near === undefined ? '' : `; did you mean '${near}'?`;
    throw new SubAgentSettingsProblem(`subagents.${name} is no setting of an agent${hint}`);
  }
  const { model, effortLevel } = entry;
  const caps = { ...capsIn(entry, name), ...capsIn(entry.limits, `${name}.limits`) };
  return {
    ...(typeof model === 'string' && model !== '' && model !== 'inherit' && { model }),
    ...(typeof effortLevel === 'string' &&
      effortLevel !== '' &&
      effortLevel !== 'inherit' && { reasoningEffort: effortLevel }),
    ...(Object.keys(caps).length > 0 && { caps }),
  };
}

function capsIn(limits: unknown, where: string): AgentCaps | undefined {
  if (limits === undefined || limits === null) return undefined;
  if (!isObject(limits))
    throw new SubAgentSettingsProblem(`subagents.${where} must be limits by their names`);
  const wrong = capNames.find((name) => {
    const value = limits[name];
    return value !== undefined && value !== null && !(typeof value === 'number' && value >= 0);
  });
  if (wrong) throw new SubAgentSettingsProblem(`subagents.${where}.${wrong} must be a number, 0 or more`);
  return capsOf(limits);
}

function count<K extends 'maxConcurrency' | 'maxDepth'>(
  value: unknown,
  name: K,
  least: number,
): Partial<Record<K, number>> {
  if (value === undefined || value === null) return {};
  if (typeof value === 'number' && Number.isInteger(value) && value >= least)
    return { [name]: value } as Record<K, number>; // a computed key is typed as any text
  throw new SubAgentSettingsProblem(`subagents.${name} must be a whole number, ${least} or more`);
}
