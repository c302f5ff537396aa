import type { EventData, EventType, SessionEvent } from '@groundcrew/protocol';
import type { WatchedAgent } from './agent-watch.js';
import { attributes as names, operations, spanEvents } from './names.js';
import type { OpenSpans } from './open-spans.js';
import type { Attributes, Span } from './span.js';

interface Place {
  readonly sessionId: string;
  readonly watch: OpenSpans;
}

type Made = (event: SessionEvent, place: Place) => void;

/** What events say of spans: most begin one or end one. */
export const eventSpans: { readonly [K in EventType]?: Made } = {
  'tool.execution_start': toolStarted,
  'tool.execution_complete': toolEnded,
  'hook.start': (event, place) => {
    const { hookType, hookInvocationId } = dataOf<'hook.start'>(event);
    startUnderAgent(event, place, {
      id: hookInvocationId,
      name: `${operations.hook} ${hookType}`,
      attributes: {
        [names.operation]: operations.hook,
        [names.hookType]: hookType,
        [names.hookInvocation]: hookInvocationId,
      },
    });
  },
  'hook.end': (event, { sessionId, watch }) => {
    const { hookInvocationId, hookType, success, error } = dataOf<'hook.end'>(event);
    const span = watch.take(sessionId, hookInvocationId);
    if (!span) return;
    if (!success) failed(span, 'hook_failed', watch.tracer.failureText(error?.message, 'The hook failed'));
    const seconds = span.end(timeOf(event));
    watch.meter.record('operationDuration', seconds, {
      [names.operation]: operations.hook,
      [names.hookType]: hookType,
    });
  },
  'permission.requested': (event, place) => {
    const { requestId, permissionRequest } = dataOf<'permission.requested'>(event);
    const { kind, toolCallId, toolName } = permissionRequest as Readonly<Record<string, unknown>>;
    startUnderCall(event, place, {
      id: requestId,
      toolCallId: typeof toolCallId === 'string' ? toolCallId : undefined,
      name: operations.permission,
      attributes: {
        [names.permissionKind]: String(kind),
        ...(typeof toolName === 'string' && { [names.permissionTool]: toolName }),
      },
    });
  },
  'permission.completed': (event, { sessionId, watch }) => {
    const { requestId, result } = dataOf<'permission.completed'>(event);
    const span = watch.take(sessionId, requestId);
    span?.set({ [names.permissionResult]: result.kind });
    span?.end(timeOf(event));
  },
  'external_tool.requested': (event, place) => {
    const { requestId, toolCallId, toolName } = dataOf<'external_tool.requested'>(event);
    startUnderCall(event, place, {
      id: requestId,
      toolCallId,
      name: `${operations.externalTool} ${toolName}`,
      attributes: { [names.externalName]: toolName, [names.externalCall]: toolCallId },
    });
  },
  'external_tool.completed': (event, { sessionId, watch }) => {
    watch.take(sessionId, dataOf<'external_tool.completed'>(event).requestId)?.end(timeOf(event));
  },
  'session.compaction_start': (event, place) => {
    const { currentTokens } = dataOf<'session.compaction_start'>(event);
    startUnderAgent(event, place, {
      id: compactionId(event),
      name: operations.compaction,
      attributes: {
        [names.operation]: operations.compaction,
        ...(currentTokens !== undefined && { [names.compactionTokensBefore]: currentTokens }),
      },
    });
  },
  'session.compaction_complete': compactionEnded,
  'session.error': (event, { sessionId, watch }) => {
    const { errorType, message } = dataOf<'session.error'>(event);
    watch.meter.record('errors', 1, { [names.errorType]: errorType });
    watch.agentOf(sessionId, event)?.fail(errorType, message);
  },
  // What is open now ends with the session: a process that serves others for weeks must not keep it.
  'session.shutdown': (event, { sessionId, watch }) => watch.endAll(sessionId, timeOf(event)),
};

function toolStarted(event: SessionEvent, { sessionId, watch }: Place): void {
  const data = dataOf<'tool.execution_start'>(event);
  const { toolCallId, toolName } = data;
  // A call that is begun again, after a question was answered, is the same call.
  if (watch.find(sessionId, toolId(toolCallId))) return;
  const agent = watch.agentOf(sessionId, event);
  const { mcpServerName, mcpToolName } = data as { mcpServerName?: string; mcpToolName?: string };
  const context = watch.place(sessionId, toolCallId, () => watch.tracer.contextUnder(agent?.context));
  const span = watch.tracer.start({
    name: `${operations.tool} ${toolName}`,
    parent: agent?.context,
    context,
    at: timeOf(event),
    attributes: {
      [names.operation]: operations.tool,
      [names.conversation]: sessionId,
      [names.toolName]: toolName,
      [names.toolCallId]: toolCallId,
      [names.toolType]: mcpServerName === undefined ? 'function' : 'extension',
      ...agent?.provider,
      ...(mcpServerName !== undefined && { [names.mcpServer]: mcpServerName }),
      ...(mcpToolName !== undefined && { [names.mcpTool]: mcpToolName }),
    },
  });
  if (watch.tracer.capturesContent) span.set({ [names.toolArguments]: JSON.stringify(data.arguments ?? {}) });
  agent?.countTool();
  watch.keep(sessionId, toolId(toolCallId), span);
}

function toolEnded(event: SessionEvent, { sessionId, watch }: Place): void {
  const { toolCallId, success, result, error } = dataOf<'tool.execution_complete'>(event);
  const span = watch.take(sessionId, toolId(toolCallId));
  if (!span) return;
  const toolName = span.attribute(names.toolName) ?? '';
  const type = success ? undefined : (error?.code ?? 'failure');
  const text = success ? result?.content : error?.message;
  if (watch.tracer.capturesContent) span.set({ [names.toolResult]: text });
  if (type !== undefined) failed(span, type, watch.tracer.failureText(text, 'The tool call failed'));
  const seconds = span.end(timeOf(event));
  const outcome: Attributes = type === undefined ? {} : { [names.errorType]: type };
  const tool = { [names.toolName]: toolName };
  const { meter } = watch;
  meter.record('operationDuration', seconds, { [names.operation]: operations.tool, ...outcome });
  meter.record('toolDuration', seconds, { ...tool, ...outcome });
  meter.record('toolLatency', seconds, tool);
  meter.record('toolCount', 1, { ...tool, [names.success]: success });
}

function compactionEnded(event: SessionEvent, { sessionId, watch }: Place): void {
  const data = dataOf<'session.compaction_complete'>(event);
  const span = watch.take(sessionId, compactionId(event));
  if (!span) return;
  const { trigger } = data as { readonly trigger?: string };
  span.set({
    [names.compactionTrigger]: trigger,
    [names.compactionTokensAfter]: data.postCompactionTokens,
    [names.compactionMessages]: data.messagesRemoved,
    [names.inputTokens]: data.compactionTokensUsed?.inputTokens,
    [names.outputTokens]: data.compactionTokensUsed?.outputTokens,
  });
  if (!data.success)
    failed(span, 'compaction_failed', watch.tracer.failureText(data.error, 'The summary could not be made'));
  watch.meter.record('operationDuration', span.end(timeOf(event)), {
    [names.operation]: operations.compaction,
  });
}

interface NewSpan {
  readonly id: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
}

function startUnderAgent(event: SessionEvent, { sessionId, watch }: Place, start: NewSpan): void {
  keepNew(event, { sessionId, watch }, { ...start, parent: watch.agentOf(sessionId, event)?.context });
}

/** Under the call that it is about, else under the agent. */
function startUnderCall(
  event: SessionEvent,
  place: Place,
  { toolCallId, ...start }: NewSpan & { readonly toolCallId: string | undefined },
): void {
  const { sessionId, watch } = place;
  const call = toolCallId === undefined ? undefined : watch.find(sessionId, toolId(toolCallId));
  const parent = call?.context ?? watch.agentOf(sessionId, event)?.context;
  keepNew(event, place, { ...start, parent });
}

function keepNew(
  event: SessionEvent,
  { sessionId, watch }: Place,
  { id, name, attributes, parent }: NewSpan & { readonly parent: WatchedAgent['context'] | undefined },
): void {
  const all = { [names.conversation]: sessionId, ...attributes };
  watch.keep(sessionId, id, watch.tracer.start({ name, parent, at: timeOf(event), attributes: all }));
}

function failed(span: Span, type: string, message: string): void {
  span.set({ [names.errorType]: type });
  span.add(spanEvents.exception, { [names.exceptionType]: type, [names.exceptionMessage]: message });
  span.fail(message);
}

function toolId(toolCallId: string): string {
  return `call ${toolCallId}`;
}

function compactionId({ agentId }: { readonly agentId?: string | undefined }): string {
  return `compaction ${agentId ?? ''}`;
}

function timeOf({ timestamp }: SessionEvent): number {
  return Date.parse(timestamp);
}

/** The table pairs each type with its own data; which one this is, only the table knows. */
function dataOf<K extends EventType>({ data }: SessionEvent): EventData<K> {
  return data as EventData<K>;
}
