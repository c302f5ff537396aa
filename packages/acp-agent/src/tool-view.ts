import { resolve } from 'node:path';
import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import type { EventData } from '@groundcrew/sdk';
import type { Change } from './changes.js';

/** What an editor shows of a call before its result. */
export interface ToolView {
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
  /** The change that an edit makes. */
  readonly content: ToolCallContent[];
}

const kinds: ReadonlyMap<string, ToolKind> = new Map(
  Object.entries({
    view: 'read',
    edit: 'edit',
    create: 'edit',
    grep: 'search',
    glob: 'search',
    recall: 'search',
    tool_search: 'search',
    web_fetch: 'fetch',
    bash: 'execute',
    read_bash: 'execute',
    stop_bash: 'execute',
    list_bash: 'execute',
    powershell: 'execute',
    report_intent: 'think',
    sql: 'think',
    task: 'think',
    exit_plan_mode: 'switch_mode',
  } satisfies Record<string, ToolKind>),
);

type Call = Pick<
  EventData<'tool.execution_start'>,
  'toolName' | 'arguments' | 'toolTitle' | 'mcpServerName' | 'mcpToolName'
>;

/** A call as an editor shows it; paths are absolute. */
export function toolView(call: Call, workingDirectory: string): ToolView {
  const { toolName } = call;
  const given = (call.arguments ?? {}) as Readonly<Record<string, unknown>>;
  const path = textOf(given.path);
  const isFile = toolName === 'view' || toolName === 'edit' || toolName === 'create';
  const at = path === undefined ? undefined : resolve(workingDirectory, path);
  const line = Array.isArray(given.view_range) ? Number(given.view_range[0]) : Number.NaN;
  const location = at !== undefined && { path: at, ...(Number.isInteger(line) && line > 0 && { line }) };
  return {
    title: titleOf(call, given),
    kind: kinds.get(toolName) ?? 'other',
    locations: isFile && location ? [location] : [],
    content: at === undefined ? [] : changeOf(toolName, given, at),
  };
}

function titleOf(
  { toolName, toolTitle, mcpServerName, mcpToolName }: Call,
  given: Readonly<Record<string, unknown>>,
): string {
  const path = textOf(given.path) ?? '';
  const command = textOf(given.command);
  if (toolName === 'view') return `View ${path}`;
  if (toolName === 'edit') return `Edit ${path}`;
  if (toolName === 'create') return `Create ${path}`;
  if (toolName === 'grep' || toolName === 'glob') return `Search for ${textOf(given.pattern) ?? ''}`;
  if (toolName === 'web_fetch') return `Fetch ${textOf(given.url) ?? ''}`;
  if (command !== undefined && kinds.get(toolName) === 'execute') return command;
  if (mcpServerName !== undefined) return `${mcpServerName}: ${toolTitle ?? mcpToolName ?? toolName}`;
  return toolTitle ?? textOf(given.description) ?? toolName;
}

function changeOf(
  toolName: string,
  given: Readonly<Record<string, unknown>>,
  path: string,
): ToolCallContent[] {
  if (toolName === 'create') return [{ type: 'diff', path, newText: textOf(given.file_text) ?? '' }];
  if (toolName !== 'edit') return [];
  const oldText = textOf(given.old_str) ?? '';
  return [{ type: 'diff', path, oldText, newText: textOf(given.new_str) ?? '' }];
}

/** What came of a call, for an editor. */
export function resultContent(data: EventData<'tool.execution_complete'>): ToolCallContent[] {
  const { success, result, error } = data;
  const text = success ? (result?.content ?? '') : (error?.message ?? result?.content ?? '');
  const images = (result?.binaryResultsForLlm ?? []).flatMap((each): ToolCallContent[] => {
    const { data: bytes, mimeType } = each as { readonly data?: string; readonly mimeType: string };
    if (bytes === undefined || !mimeType.startsWith('image/')) return [];
    return [{ type: 'content', content: { type: 'image', data: bytes, mimeType } }];
  });
  return [...(text === '' ? [] : [textContent(text)]), ...images];
}

/** Words as the content of a call. */
export function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } };
}

/** A change as the content of a call. */
export function diffContent({ line: _, ...change }: Change): ToolCallContent {
  return { type: 'diff', ...change };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
