import type { Draft } from '../log/session-log.js';
import type { SessionSettings } from '../settings/session-settings.js';
import { warnOfNames } from '../settings/unknown-names.js';
import type { ToolSource } from '../tools/tool-source.js';
import { unmatchedEntries } from '../tools/toolset.js';

/** Records warnings about options at once, those excepted that clients have received before. */
export async function warnAtOnce(
  session: { readonly isReadOnly: boolean; record(...drafts: readonly Draft[]): Promise<unknown> },
  warnings: OptionWarnings,
  messages: readonly string[],
): Promise<void> {
  warnings.add(messages);
  if (messages.length === 0 || session.isReadOnly) return;
  const drafts = warnings.take();
  if (drafts.length > 0) await session.record(...drafts);
}

/** Entries of filters of tools, by the option that has them. */
type FilterEntries = Readonly<Record<string, readonly string[]>>;

function filtersIn(settings: SessionSettings): FilterEntries {
  const { availableTools = [], excludedTools = [], defaultAgentExcludedTools = [] } = settings;
  return {
    availableTools,
    excludedTools,
    'defaultAgent.excludedTools': defaultAgentExcludedTools,
    'customAgents.tools': toolsOfAgents(settings),
  };
}

/** Clients of old expect it, and newer ones say that exclusion wins. */
function ignoredExclusion({ availableTools, excludedTools = [], exclusionWins }: SessionSettings) {
  if (exclusionWins || availableTools === undefined || excludedTools.length === 0) return [];
  return [
    "The option 'excludedTools' has no effect: 'availableTools' is given, and 'toolFilterPrecedence' is not \"excluded\".",
  ];
}

/** What agents of clients may use, but for tools of servers, which an agent may bring along or name as `server/tool`. */
function toolsOfAgents({ customAgents = [] }: SessionSettings): readonly string[] {
  const named = customAgents.flatMap(({ tools, mcpServers }) =>
    mcpServers || !Array.isArray(tools) ? [] : tools.filter((tool) => typeof tool === 'string'),
  );
  return [...new Set(named)].filter((entry) => entry !== '*' && !entry.includes('/'));
}

/** Warnings of options without effect: each is said once in the life of a session in this process. */
export class OptionWarnings {
  private readonly known = new Set<string>();
  private unsaid: string[] = [];
  /** Entries of filters by which a tool may be meant that its server has not offered yet. */
  private pending: FilterEntries = {};

  add(messages: readonly string[]): void {
    for (const message of messages) {
      if (this.known.has(message)) continue;
      this.known.add(message);
      this.unsaid.push(message);
    }
  }

  /** A warning for each filter of tools with entries that no tool is meant by; what tools of servers may be meant by waits. */
  ofFilters(sources: readonly ToolSource[], settings: SessionSettings): readonly string[] {
    return [...ignoredExclusion(settings), ...this.examine(sources, filtersIn(settings))];
  }

  /** The same for what has waited. */
  ofPending(sources: readonly ToolSource[]): readonly string[] {
    return this.examine(sources, this.pending);
  }

  private examine(sources: readonly ToolSource[], filters: FilterEntries): readonly string[] {
    const used = Object.entries(filters).filter(([, entries]) => entries.length > 0);
    const found = used.map(([option, entries]) => ({ option, ...unmatchedEntries(sources, entries) }));
    const waiting = found.filter(({ pending }) => pending.length > 0);
    this.pending = Object.fromEntries(waiting.map(({ option, pending }) => [option, pending]));
    const known = sources.flatMap((source) => source.tools().map(({ name }) => name));
    return found.flatMap(({ option, unmatched }) => warnOfNames(option, unmatched, { known, what: 'tool' }));
  }

  /** What has not been said yet; from now on it has. */
  take(): readonly Draft[] {
    const messages = this.unsaid;
    this.unsaid = [];
    return messages.map((message) => ({
      type: 'session.warning',
      data: { warningType: 'configuration', message },
    }));
  }
}
