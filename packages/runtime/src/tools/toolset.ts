import { externalTool, type ToolDeclaration } from './external.js';
import type { Tool } from './tool.js';

/** Which tools the app wants its agent to see. */
export interface ToolFilters {
  readonly availableTools?: readonly string[];
  readonly excludedTools?: readonly string[];
  /** Without it, exclusion is ignored when `availableTools` is given, as clients of old expect. */
  readonly exclusionWins: boolean;
  /** Hidden from the root agent only. */
  readonly hiddenFromRoot?: readonly string[];
}

export interface Toolset {
  readonly tools: readonly Tool[];
  /** Names that filters took away, sorted. */
  readonly hidden: readonly string[];
  /** Characters of all definitions together. */
  readonly size: number;
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

/** The tools of one turn: built-in ones first, then those of clients, less what the filters take away. */
export function makeToolset(parts: {
  readonly builtin: readonly Tool[];
  readonly declared: readonly ToolDeclaration[];
  readonly filters: ToolFilters;
}): Toolset {
  const { builtin, declared, filters } = parts;
  const overridden = new Set(declared.map((declaration) => declaration.name));
  for (const declaration of declared) {
    const clashes =
      !declaration.overridesBuiltInTool && builtin.some((tool) => tool.name === declaration.name);
    if (clashes) throw new ToolConflict(declaration.name);
  }
  const all = [...builtin.filter((tool) => !overridden.has(tool.name)), ...declared.map(externalTool)];
  const tools = all.filter((tool) => isVisible(tool, filters));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    tools,
    hidden: all
      .filter((tool) => !byName.has(tool.name))
      .map((tool) => tool.name)
      .sort(),
    size: tools.reduce((size, tool) => size + sizeOf(tool), 0),
    find: (name) => byName.get(name),
  };
}

function isVisible(tool: Tool, filters: ToolFilters): boolean {
  const { availableTools, excludedTools = [], hiddenFromRoot = [] } = filters;
  if (hiddenFromRoot.some((entry) => matches(tool, entry))) return false;
  const isExcluded = excludedTools.some((entry) => matches(tool, entry));
  if (isExcluded && (filters.exclusionWins || availableTools === undefined)) return false;
  if (availableTools === undefined || tool.source === 'custom') return true;
  return availableTools.some((entry) => matches(tool, entry));
}

/** An entry is a bare name, or `builtin:`, `mcp:` or `custom:` before a name or `*`. */
function matches(tool: Tool, entry: string): boolean {
  const [, source, pattern] = /^(builtin|mcp|custom):(.*)$/s.exec(entry) ?? [];
  if (source === undefined) return tool.name === entry;
  return tool.source === source && (pattern === '*' || pattern === tool.name);
}

function sizeOf(tool: Tool): number {
  return tool.name.length + tool.description.length + JSON.stringify(tool.inputSchema).length;
}
