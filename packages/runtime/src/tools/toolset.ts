import { createHash } from 'node:crypto';
import type { ToolSpec } from '@groundcrew/models';
import type { Tool } from './tool.js';
import type { ToolSource } from './tool-source.js';

/** Which tools the app wants its agent to see. */
export interface ToolFilters {
  readonly availableTools?: readonly string[];
  readonly excludedTools?: readonly string[];
  /** Without it, exclusion is ignored when `availableTools` is given, as clients of old expect. */
  readonly exclusionWins: boolean;
  /** Hidden from the root agent only. */
  readonly hiddenFromRoot?: readonly string[];
  /** The only ones that an agent was given; absent: every tool. */
  readonly ofAgent?: readonly string[];
}

/** The tools of a call as its model reads them. */
export interface ToolOffer {
  readonly digest: string;
  readonly tools: readonly ToolSpec[];
}

export interface Toolset {
  readonly tools: readonly Tool[];
  /** Those that exist and can be called, but whose definitions the model does not get. */
  readonly deferred: readonly Tool[];
  /** Names that filters took away, sorted. */
  readonly hidden: readonly string[];
  /** Characters of all definitions together. */
  readonly size: number;
  /** What the model reads of them, and a name for exactly that. */
  readonly offer: ToolOffer;
  find(name: string): Tool | undefined;
}

/** A client declared a tool under a built-in's name without saying that it means to replace it. */
export class ToolConflict extends Error {
  override readonly name = 'ToolConflict';

  constructor(toolName: string) {
    super(
      `External tool "${toolName}" conflicts with a built-in tool of the same name. Set overridesBuiltInTool: true to explicitly override it.`,
    );
  }
}

/** The tools of one turn, source by source, less what the filters take away; throws ToolConflict. */
export function makeToolset(sources: readonly Pick<ToolSource, 'tools'>[], filters: ToolFilters): Toolset {
  const offered = sources.flatMap((source) => source.tools());
  const builtin = new Set(offered.flatMap((tool) => (tool.source === 'builtin' ? [tool.name] : [])));
  const replacing = offered.filter((tool) => tool.source === 'custom' && builtin.has(tool.name));
  const isFree = (name: string) => offered.some((tool) => tool.name === name && tool.givesWay);
  for (const tool of replacing)
    if (!tool.overridesBuiltIn && !isFree(tool.name)) throw new ToolConflict(tool.name);
  const all = offered.filter(
    (tool) => tool.source !== 'builtin' || !replacing.some(({ name }) => name === tool.name),
  );
  const tools = all.filter((tool) => isVisible(tool, filters));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const hidden = all.filter((tool) => !byName.has(tool.name)).map((tool) => tool.name);
  return toolsetOf({ tools, deferred: [], hidden: hidden.sort(), find: (name) => byName.get(name) });
}

/** A toolset of which only its parts are known; what follows from them is worked out when it is asked for. */
export function toolsetOf(parts: Pick<Toolset, 'tools' | 'deferred' | 'hidden' | 'find'>): Toolset {
  let offer: ToolOffer | undefined;
  return {
    ...parts,
    size: sizeOfTools(parts.tools),
    get offer() {
      offer ??= offerOf(parts.tools);
      return offer;
    },
  };
}

function offerOf(tools: readonly Tool[]): ToolOffer {
  const specs = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return { digest: createHash('sha256').update(JSON.stringify(specs)).digest('base64url'), tools: specs };
}

function isVisible(tool: Tool, filters: ToolFilters): boolean {
  const { availableTools, excludedTools = [], hiddenFromRoot = [] } = filters;
  if (hiddenFromRoot.some((entry) => matches(tool, entry))) return false;
  const { ofAgent } = filters;
  if (ofAgent && !ofAgent.some((entry) => entry === '*' || matches(tool, entry) || isOfServer(tool, entry)))
    return false;
  const isExcluded = excludedTools.some((entry) => matches(tool, entry));
  if (isExcluded && (filters.exclusionWins || availableTools === undefined)) return false;
  if (availableTools === undefined || tool.source === 'custom') return true;
  return availableTools.some((entry) => matches(tool, entry));
}

/** Agents may name the tools of a server as `server/tool`, or all of them as `server/*`. */
function isOfServer({ mcp }: Tool, entry: string): boolean {
  if (!mcp) return false;
  return entry === `${mcp.mcpServerName}/*` || entry === `${mcp.mcpServerName}/${mcp.mcpToolName}`;
}

/** Entries of a filter that no tool of these sources is meant by, now or with other clients and systems; and those that have to wait for a source. */
export function unmatchedEntries(
  sources: readonly ToolSource[],
  entries: readonly string[],
): { readonly unmatched: readonly string[]; readonly pending: readonly string[] } {
  const offered = sources.flatMap((source) => source.tools());
  const open = entries.filter(
    (entry) =>
      !wholeSource.test(entry) &&
      !comingAndGoing.test(entry) &&
      !offered.some((tool) => matches(tool, entry)),
  );
  const isPending = (entry: string) =>
    !/^(?:builtin|custom):/.test(entry) &&
    sources.some((source) => source.mayOffer?.(entry.replace(/^mcp:/, '')));
  return { unmatched: open.filter((entry) => !isPending(entry)), pending: open.filter(isPending) };
}

const wholeSource = /^(?:builtin|mcp|custom):\*$/;

/** Names by which an agent means no tool of these sources. Those of servers are not judged: servers come and go. */
export function unknownTools(sources: readonly ToolSource[], names: readonly string[]): readonly string[] {
  const judged = names.filter((name) => name !== '*' && !name.includes('/'));
  return unmatchedEntries(sources, judged).unmatched;
}

/** Built-in tools that some clients, or other systems, have. */
const comingAndGoing =
  /^(?:builtin:)?(?:(?:(?:read|write|stop|list)_)?(?:bash|powershell)|ask_user|report_intent)$/;

/** An entry is a bare name, or `builtin:`, `mcp:` or `custom:` before a name or `*`. */
function matches(tool: Tool, entry: string): boolean {
  const [, source, pattern] = /^(builtin|mcp|custom):(.*)$/s.exec(entry) ?? [];
  if (source === undefined) return tool.name === entry;
  return tool.source === source && (pattern === '*' || pattern === tool.name);
}

/** Characters of their definitions together. */
export function sizeOfTools(tools: readonly Tool[]): number {
  return tools.reduce((size, tool) => size + sizeOf(tool), 0);
}

function sizeOf(tool: Tool): number {
  return tool.name.length + tool.description.length + JSON.stringify(tool.inputSchema).length;
}
