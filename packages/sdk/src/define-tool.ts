import { builtinToolNames, type Methods, type Params } from '@groundcrew/protocol';
import type * as core from 'zod/v4/core';
import { GroundcrewError } from './errors.js';
import type { FromJsonSchema, JsonSchema } from './json-schema.js';
import type { ToolResultObject } from './tool-result.js';
import type { TraceContext } from './trace.js';
import { isZod, jsonSchemaOf, type Parsed, parseBy } from './zod-schema.js';

/** What a tool takes: a zod schema, whose arguments are checked before the handler runs, or a JSON Schema. */
export type ToolParameters = core.$ZodType | JsonSchema;

/** What the handler gets. Arguments of a JSON Schema tool come as the model wrote them. */
export type ArgumentsOf<P> = P extends core.$ZodType<infer Output> ? Output : FromJsonSchema<P>;

/** One call of a tool: who asks, and where it stands in a trace. */
export interface ToolInvocation extends TraceContext {
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** As the model wrote them. */
  readonly arguments: unknown;
  /** Where the session works. */
  readonly workingDirectory?: string;
}

/** A tool that the app serves: declared to the model, run here. */
export interface Tool<Arguments = unknown> {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** What the model goes by when it chooses. */
  readonly description?: string;
  readonly parameters?: ToolParameters;
  /** Takes the place of the runtime's own tool of this name. */
  readonly overridesBuiltInTool?: boolean;
  /**
   * With `overridesBuiltInTool`: it does the work of the runtime's own tool, and is described to the model, checked and judged as
   * that, with the same questions for permission. In a sandbox, and for calls that run unasked, the runtime's own tool runs.
   */
  readonly actsForBuiltIn?: boolean;
  /** Runs without asking for permission. */
  readonly skipPermission?: boolean;
  /** Its calls change nothing: the agent may call it in plan mode too. */
  readonly readOnly?: boolean;
  /** Whether the model may have to search for it first, where there are many tools; `auto` without it. */
  readonly defer?: 'auto' | 'never';
  /** A call that succeeds ends the turn. No effect yet, and a warning says so. */
  readonly isTerminal?: boolean;
  /** For the host. No effect yet, and a warning says so. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /**
   * Runs a call. A text or any value that JSON can hold is a success; a `ToolResultObject` says more; what is thrown
   * fails the call without giving the model the reason. The signal fires when the call is cancelled or answered elsewhere.
   * Without a handler the tool is declared, and another client answers.
   */
  handler?(
    args: Arguments,
    invocation: ToolInvocation,
    signal: AbortSignal,
  ): ToolResultObject | unknown | Promise<ToolResultObject | unknown>;
}

/** A tool without its name and schema. */
type Definition<P, Arguments> = Omit<Tool<Arguments>, 'name' | 'parameters'> & { readonly parameters?: P };

/** Defines a tool whose handler has typed arguments: from the schema, or by the type parameter. */
export function defineTool<const P extends ToolParameters>(
  name: string,
  definition: Definition<P, ArgumentsOf<P>>,
): Tool<ArgumentsOf<P>>;
export function defineTool<Arguments>(
  name: string,
  definition: Definition<ToolParameters, Arguments>,
): Tool<Arguments>;
export function defineTool(name: string, definition: Definition<ToolParameters, never>): Tool<never> {
  return { ...definition, name };
}

/** The tool as it is declared to the runtime. */
export function declarationOf(tool: Tool): NonNullable<Params<Methods['session.create']>['tools']>[number] {
  const { handler: _handler, parameters, ...rest } = tool;
  const checksArguments = isZod(parameters) && tool.handler !== undefined && !tool.skipPermission;
  return {
    ...rest,
    ...(parameters && { parameters: schemaOf(tool.name, parameters) }),
    ...(checksArguments && { checksArguments }),
  };
}

/** Throws for tools that a turn could not work with: two of one name, or one of the runtime's own by accident. */
export function checkToolNames(tools: readonly Tool[]): void {
  const names = new Set<string>();
  for (const { name, overridesBuiltInTool } of tools) {
    if (names.has(name)) throw invalid(`Two tools are named ${name}: each tool needs a name of its own`);
    names.add(name);
    if (overridesBuiltInTool || !builtinNames.has(name)) continue;
    throw invalid(
      `The tool ${name} has the name of a built-in tool: choose another, or set overridesBuiltInTool: true to take its place`,
    );
  }
}

const builtinNames: ReadonlySet<string> = new Set(builtinToolNames);

function invalid(message: string): GroundcrewError {
  return new GroundcrewError('invalid_option', message);
}

/** Checks arguments by the tool's own schema; undefined when it has none that can check. */
export function readArguments({ parameters }: Tool, given: unknown): Promise<Parsed> | undefined {
  return isZod(parameters) ? parseBy(parameters, given ?? {}) : undefined;
}

function schemaOf(name: string, parameters: ToolParameters): Record<string, unknown> {
  if (isZod(parameters)) return jsonSchemaOf(parameters);
  if ('safeParse' in parameters) throw invalid(`The parameters of tool ${name} are no schema of zod 4`);
  return { ...parameters };
}
