import type { AnyEvent, EventData, EventType } from '@groundcrew/protocol';

type EventSource<K extends EventType> = (data: EventData<K>) => string;

/** Events as lines that a test can compare whole: what differs from run to run is left out. */
export function story(
  events: readonly AnyEvent[],
  options: { readonly without?: readonly string[] } = {},
): readonly string[] {
  const { without = noise } = options;
  return events.filter((event) => !without.includes(event.type)).map(line);
}

/** What tests seldom ask for: it comes with every turn. */
const noise: readonly string[] = [
  'pending_messages.modified',
  'session.title_changed',
  'session.tools_updated',
  'session.usage_info',
  'assistant.usage',
  'assistant.idle',
  'assistant.streaming_delta',
  'system.message',
];

function line(event: AnyEvent): string {
  const name = event.type + (event.ephemeral ? '~' : '');
  const notify = (sources as Readonly<Record<string, (data: unknown) => string>>)[event.type];
  const received = notify?.(event.data) ?? '';
  return received === '' ? name : `${name} ${received}`;
}

const sources: { readonly [K in EventType]?: EventSource<K> } = {
  abort: ({ reason }) => reason,
  'user.message': ({ content, delivery, turnId }) => `${quote(content)} ${delivery} ${turnId}`,
  'assistant.turn_start': ({ turnId }) => turnId,
  'assistant.turn_end': ({ turnId }) => turnId,
  'assistant.message': ({ content, toolRequests = [] }) =>
    [quote(content), ...toolRequests.map((request) => `${request.name}#${request.toolCallId}`)].join(' '),
  'assistant.message_delta': ({ deltaContent }) => quote(deltaContent),
  'assistant.reasoning_delta': ({ deltaContent }) => quote(deltaContent),
  'assistant.reasoning': ({ content }) => quote(content),
  'tool.execution_start': ({ toolCallId, toolName }) => `${toolName}#${toolCallId}`,
  'tool.execution_complete': ({ toolCallId, result, error }) =>
    result
      ? `${toolCallId} ok ${quote(result.content)}`
      : `${toolCallId} ${error?.code} ${quote(error?.message ?? '')}`,
  'permission.requested': ({ permissionRequest }) => permissionRequest.kind,
  'permission.completed': ({ result }) => result.kind,
  'external_tool.requested': ({ toolName, toolCallId }) => `${toolName}#${toolCallId}`,
  'session.error': ({ errorType, message }) => `${errorType} ${quote(message)}`,
  'session.info': ({ infoType, message }) => `${infoType} ${quote(message)}`,
  'session.warning': ({ warningType, message }) => `${warningType} ${quote(message)}`,
  'session.idle': ({ aborted }) => (aborted ? 'aborted' : ''),
  'session.mode_changed': ({ previousMode, newMode }) => `${previousMode} → ${newMode}`,
  'session.model_change': ({ newModel, source }) => `${newModel} ${source ?? ''}`.trim(),
  'session.plan_changed': ({ operation }) => operation,
  'session.workspace_file_changed': ({ path, operation }) => `${operation} ${path}`,
  'session.shutdown': ({ shutdownType }) => shutdownType,
  'model.call_failure': ({ statusCode }) => String(statusCode ?? ''),
};

function quote(text: string): string {
  return JSON.stringify(text);
}
