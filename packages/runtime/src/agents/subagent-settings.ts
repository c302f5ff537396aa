import { capsOf } from './definition.js';
import type { SubAgentSettings } from './sub-agent-run.js';

/** Settings of sub-agents as clients write them: by agent below `agents`, or directly by name. */
export function subAgentSettings(
  given: Readonly<Record<string, unknown>> | null,
): Partial<SubAgentSettings> | null {
  if (!given) return null;
  const { agents, disabledSubagents, maxConcurrency, maxDepth, limits, treeLimits, ...named } = given;
  const byName = { ...named, ...(isMap(agents) ? agents : {}) };
  const caps = isMap(limits) ? capsOf(limits) : undefined;
  const treeCaps = isMap(treeLimits) ? capsOf(treeLimits) : undefined;
  return {
    agents: Object.fromEntries(
      Object.entries(byName).flatMap(([name, entry]) => (isMap(entry) ? [[name, entryOf(entry)]] : [])),
    ),
    ...(Array.isArray(disabledSubagents) && { disabled: disabledSubagents.map(String) }),
    ...(isCount(maxConcurrency) && { maxConcurrency }),
    ...(isCount(maxDepth) && { maxDepth }),
    ...(caps && { caps }),
    ...(treeCaps && { treeCaps }),
  };
}

function entryOf(entry: Readonly<Record<string, unknown>>): SubAgentSettings['agents'][string] {
  const { model, effortLevel } = entry;
  const caps = capsOf(entry);
  return {
    ...(typeof model === 'string' && model !== '' && { model }),
    ...(typeof effortLevel === 'string' && effortLevel !== '' && { reasoningEffort: effortLevel }),
    ...(caps && { caps }),
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
