import { createHash } from 'node:crypto';
import type { JsonObject } from '@groundcrew/protocol';
import type { Tool } from '@modelcontextprotocol/client';
import { plainText } from './plain-text.js';

/** A tool as its server describes it, bounded: what a server writes is data. */
export interface ToolDefinition {
  /** As the server calls it. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly isReadOnly: boolean;
  readonly isIdempotent: boolean;
  /** Another one when the description has changed: who approved that one did not approve this one. */
  readonly version: string;
  readonly ui?: JsonObject;
}

const longestDescription = 4096;
const longestTitle = 200;
const longestToolName = 256;
const largestSchema = 64 * 1024;
const mostTools = 1000;

/** The tools of a server's list that can be offered, and of the others why not. */
export function readDefinitions(tools: readonly Tool[]): {
  readonly definitions: readonly ToolDefinition[];
  readonly problems: readonly string[];
} {
  const definitions = new Map<string, ToolDefinition>();
  const problems: string[] = [];
  if (tools.length > mostTools)
    problems.push(`it lists ${tools.length} tools, of which the first ${mostTools} are offered`);
  for (const tool of tools.slice(0, mostTools)) {
    const problem = definitions.has(tool.name) ? 'it is listed twice' : problemOf(tool);
    if (problem === undefined) definitions.set(tool.name, definitionOf(tool));
    else if (problems.length < mostProblems)
      problems.push(`its tool ${JSON.stringify(tool.name.slice(0, 80))} is not offered: ${problem}`);
  }
  return { definitions: [...definitions.values()], problems };
}

const mostProblems = 10;

function problemOf({ name, inputSchema }: Tool): string | undefined {
  if (name === '' || name.length > longestToolName) return 'its name is empty or too long';
  const size = JSON.stringify(inputSchema).length;
  return size > largestSchema ? `its schema has ${size} characters` : undefined;
}

function definitionOf(tool: Tool): ToolDefinition {
  const { name, annotations, inputSchema, _meta } = tool;
  const title = plainText(tool.title ?? annotations?.title ?? name, longestTitle).replaceAll('\n', ' ');
  const description = plainText(tool.description ?? '', longestDescription);
  const schema = plainSchema(inputSchema) as JsonObject;
  const { ui } = _meta ?? {};
  return {
    name,
    title,
    description,
    inputSchema: { ...schema, type: 'object' },
    isReadOnly: annotations?.readOnlyHint === true,
    isIdempotent: annotations?.idempotentHint === true,
    version: createHash('sha256')
      .update(JSON.stringify([title, description, schema]))
      .digest('hex')
      .slice(0, 16),
    ...(typeof ui === 'object' && ui !== null && { ui: ui as JsonObject }),
  };
}

/** Descriptions in a schema are read by the model as well. */
function plainSchema(value: unknown): unknown {
  if (typeof value === 'string') return plainText(value, longestDescription);
  if (Array.isArray(value)) return value.map(plainSchema);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [plainText(key, longestTitle), plainSchema(each)]),
  );
}
