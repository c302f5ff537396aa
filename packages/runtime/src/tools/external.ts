import { isObject, type Part } from '@groundcrew/models';
import type { JsonObject, JsonValue } from '@groundcrew/protocol';
import { type PreparedCall, type ResultType, type Tool, ToolFailure, type ToolResult } from './tool.js';

/** A tool that a client declared and will run itself. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
  readonly skipPermission?: boolean;
  /** Its calls change nothing: they may run in plan mode. */
  readonly readOnly?: boolean;
  readonly overridesBuiltInTool?: boolean;
  /** It does the work of the built-in tool of its name, which it is described, checked and judged as. */
  readonly actsForBuiltIn?: boolean;
  readonly defer?: string;
  /** The client can say whether arguments fit. */
  readonly checksArguments?: boolean;
  /** Asks the client whether they do; rejects when it gives no answer. */
  checkArguments?(call: ArgumentsToCheck): Promise<CheckedArguments>;
}

/** Arguments of a call that the tool's client may refuse. */
export interface ArgumentsToCheck {
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: unknown;
}

/** What the client says of them. */
export interface CheckedArguments {
  readonly valid: boolean;
  readonly reason?: string | null | undefined;
}

/** What a client answered: a result in one of several shapes, an error, or nothing. */
export interface ExternalAnswer {
  readonly result?: string | JsonObject;
  readonly error?: string;
}

const emptySchema: JsonObject = { type: 'object', properties: {} };

/** Makes the model's view of a declared tool. */
export function externalTool(declaration: ToolDeclaration): Tool {
  const description = declaration.description ?? '';
  return {
    name: declaration.name,
    description,
    inputSchema: declaration.parameters ?? emptySchema,
    source: 'custom',
    isRepeatable: false,
    changesNothing: declaration.readOnly ?? false,
    isNeverDeferred: declaration.defer === 'never',
    overridesBuiltIn: declaration.overridesBuiltInTool ?? false,
    prepare: (input, { sessionId, toolCallId }) => {
      if (declaration.skipPermission) return { type: 'external' };
      const args = (input ?? {}) as JsonValue;
      const toolName = declaration.name;
      const request = { kind: 'custom-tool' as const, toolName, toolDescription: description, args };
      const prepared: PreparedCall = { type: 'external', questions: [{ request }] };
      const { checkArguments } = declaration;
      if (!checkArguments) return prepared;
      const checked = checkArguments({ sessionId, toolCallId, toolName, arguments: args });
      return requireFitting(toolName, checked).then(() => prepared);
    },
  };
}

/** No user is asked about a call that its own client would refuse; one that gives no answer has not refused it. */
async function requireFitting(toolName: string, answer: Promise<CheckedArguments>): Promise<void> {
  const checked = await answer.catch(() => undefined);
  if (!checked || checked.valid) return;
  const reason = checked.reason ?? 'they do not fit its schema';
  throw new ToolFailure(`Invalid arguments for tool ${toolName}: ${reason}`);
}

/** Reads a client's answer. The text of `error` stays between the client and its log: neither model nor events see it. */
export function externalResult(
  call: { readonly toolName: string; readonly arguments: unknown },
  answer: ExternalAnswer,
): ToolResult {
  if (answer.error !== undefined) {
    const args = JSON.stringify(call.arguments ?? {});
    const message = 'Tool execution failed';
    const text = `Failed to execute \`${call.toolName}\` tool with arguments: ${args} due to error: Error: ${message}`;
    return { type: 'failure', text, message };
  }
  if (answer.result === undefined) return { type: 'success', text: '' };
  if (typeof answer.result === 'string') return { type: 'success', text: answer.result };
  return resultOfObject(answer.result);
}

/** Reads a result in the shape clients and hooks write it. */
export function resultOfObject(result: JsonObject): ToolResult {
  const text = typeof result.textResultForLlm === 'string' ? result.textResultForLlm : JSON.stringify(result);
  const type = resultTypes.find((known) => known === result.resultType) ?? 'success';
  const error = typeof result.error === 'string' ? result.error : undefined;
  const binaries = arrayOfObjects(result.binaryResultsForLlm);
  const contents = arrayOfObjects(result.contents);
  const parts = binaries.flatMap(partsOfBinary);
  return {
    type,
    text,
    ...(type === 'failure' && error !== undefined && { message: error }),
    ...(typeof result.sessionLog === 'string' && { details: result.sessionLog }),
    ...(contents.length > 0 && { contents }),
    ...(binaries.length > 0 && { binaries }),
    ...(parts.length > 0 && { parts }),
    ...(isObject(result.toolTelemetry) && { telemetry: result.toolTelemetry }),
  };
}

const resultTypes: readonly ResultType[] = ['success', 'failure', 'denied', 'rejected', 'timeout'];

function partsOfBinary(binary: JsonObject): Part[] {
  const { data, mimeType, description } = binary;
  if (typeof data !== 'string' || typeof mimeType !== 'string' || !mimeType.startsWith('image/')) return [];
  const caption = typeof description === 'string' ? [{ type: 'text' as const, text: description }] : [];
  return [...caption, { type: 'image', mimeType, base64: data }];
}

function arrayOfObjects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((each): each is JsonObject => isObject(each)) : [];
}
