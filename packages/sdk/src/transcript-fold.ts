import type { EventData, SessionEvent } from '@groundcrew/protocol';
import type {
  TranscriptAgent,
  TranscriptItem,
  TranscriptMessage,
  TranscriptNotice,
  TranscriptTool,
} from './transcript-item.js';

/** One agent's part of a transcript after one more event of it. */
export function reduceItems(agent: TranscriptAgent, event: SessionEvent): TranscriptAgent {
  switch (event.type) {
    case 'user.message':
      return add(interruptOpen(agent, event.data.delivery), promptOf(event.id, event.data));
    case 'assistant.turn_start':
      return { ...agent, isTurnOpen: true };
    case 'assistant.turn_end':
      return { ...withoutLive(agent), isTurnOpen: false };
    case 'assistant.message_delta':
      return stream(agent, event.data.messageId, { text: event.data.deltaContent });
    case 'assistant.reasoning_delta':
      return stream(agent, event.data.reasoningId, { reasoning: event.data.deltaContent });
    case 'assistant.message':
      return add(withoutLive(agent), messageOf(event.data));
    case 'model.call_failure':
      return { ...agent, retry: event.data.errorMessage ?? 'The model call failed' };
    case 'session.compaction_complete': {
      // What its own model calls failed with is no reason of a call that the turn waits for.
      const { retry: _, ...rest } = agent;
      return reduceTools(rest, event);
    }
    case 'abort':
      return { ...withoutLive(interruptOpen(agent)), isTurnOpen: false };
    case 'assistant.usage':
      return agent.id === undefined ? agent : withTokens(agent, event.data);
    case 'subagent.started':
    case 'subagent.completed':
    case 'subagent.failed':
      return reduceLife(agent, event);
    default:
      return reduceTools(agent, event);
  }
}

function withTokens(
  agent: TranscriptAgent,
  { inputTokens = 0, outputTokens = 0 }: EventData<'assistant.usage'>,
): TranscriptAgent {
  return { ...agent, tokens: (agent.tokens ?? 0) + inputTokens + outputTokens };
}

function reduceLife(
  agent: TranscriptAgent,
  event: Extract<SessionEvent, { type: 'subagent.started' | 'subagent.completed' | 'subagent.failed' }>,
): TranscriptAgent {
  if (agent.id === undefined) return agent;
  const { agentName: name, agentDisplayName: displayName, toolCallId } = event.data;
  const named = { ...agent, name, displayName, toolCallId };
  if (event.type === 'subagent.started') return { ...named, startedAt: event.timestamp };
  const { tokens: _, ...counted } = withoutLive(named);
  const { totalTokens: tokens, durationMs: milliseconds } = event.data;
  const ended = {
    ...counted,
    isTurnOpen: false,
    ...(tokens !== undefined && { tokens }),
    ...(milliseconds !== undefined && { milliseconds }),
  };
  if (event.type === 'subagent.failed') return { ...ended, state: 'failed', error: event.data.error };
  return { ...ended, state: event.data.cancelled ? 'interrupted' : 'completed' };
}

function reduceTools(agent: TranscriptAgent, event: SessionEvent): TranscriptAgent {
  switch (event.type) {
    case 'tool.user_requested':
      return begin(agent, { ...event.data, isUserRequested: true });
    case 'tool.execution_start':
      return begin(agent, { ...event.data, isUserRequested: false });
    case 'tool.execution_partial_result': {
      const output = event.data.partialOutput;
      return change(agent, event.data.toolCallId, (tool) => (isRunning(tool) ? { ...tool, output } : tool));
    }
    case 'tool.execution_progress': {
      const progress = event.data.progressMessage;
      return change(agent, event.data.toolCallId, (tool) => (isRunning(tool) ? { ...tool, progress } : tool));
    }
    case 'tool.execution_complete':
      return change(agent, event.data.toolCallId, (tool) => completed(tool, event.data));
    default: {
      const notice = noticeOf(event);
      return notice ? add(agent, notice) : agent;
    }
  }
}

function noticeOf(event: SessionEvent): TranscriptNotice | undefined {
  const base = { type: 'notice', id: event.id, isEphemeral: event.ephemeral === true } as const;
  switch (event.type) {
    case 'session.info':
      return { ...base, level: 'info', kind: event.data.infoType, text: event.data.message };
    case 'session.warning':
      return { ...base, level: 'warning', kind: event.data.warningType, text: event.data.message };
    case 'session.error':
      return { ...base, level: 'error', kind: event.data.errorType, text: event.data.message };
    case 'session.compaction_start':
      return { ...base, level: 'info', kind: 'compaction', text: 'the conversation is being summarised' };
    case 'session.compaction_complete': {
      const { success, error = 'no reason was given' } = event.data;
      const text = `the conversation was not summarised: ${error}`;
      return success ? undefined : { ...base, level: 'warning', kind: 'compaction', text };
    }
    default:
      return undefined;
  }
}

function promptOf(eventId: string, data: EventData<'user.message'>): TranscriptItem {
  const { content, messageId = eventId, source, attachments = [] } = data;
  return {
    type: 'prompt',
    id: messageId,
    text: content,
    attachments,
    ...(source !== undefined && { source }),
  };
}

function messageOf(data: EventData<'assistant.message'>): TranscriptMessage {
  const { messageId, content, reasoningText, model } = data;
  return {
    type: 'message',
    id: messageId,
    text: content,
    ...(reasoningText !== undefined && { reasoning: reasoningText }),
    ...(model !== undefined && { model }),
  };
}

/** A call that begins again after a resume is the same call. */
function begin(
  agent: TranscriptAgent,
  data: EventData<'tool.user_requested'> &
    Partial<EventData<'tool.execution_start'>> & { readonly isUserRequested: boolean },
): TranscriptAgent {
  const { toolCallId: id, toolName: name, isUserRequested, shellToolInfo } = data;
  const display = shellToolInfo?.displayCommand;
  const tool: TranscriptTool = {
    type: 'tool',
    id,
    name,
    arguments: data.arguments,
    state: 'running',
    isUserRequested,
    ...(display !== undefined && display !== '' && { display }),
  };
  if (agent.items.some((item) => item.type === 'tool' && item.id === id))
    return change(agent, id, () => tool);
  return add(agent, tool);
}

function completed(tool: TranscriptTool, data: EventData<'tool.execution_complete'>): TranscriptTool {
  const { output: _, progress: __, ...rest } = tool;
  const { success, result, error } = data;
  const output = result?.content;
  const details = result?.detailedContent;
  return {
    ...rest,
    state: success ? 'succeeded' : 'failed',
    ...(output !== undefined && { output }),
    ...(details !== undefined && details !== output && { details }),
    ...(!success && { error: error?.message ?? 'no reason was given' }),
  };
}

function isRunning({ state }: TranscriptTool): boolean {
  return state === 'running';
}

/** A piece of another message means that the attempt before has broken off. */
function stream(
  agent: TranscriptAgent,
  id: string,
  piece: { readonly text?: string; readonly reasoning?: string },
): TranscriptAgent {
  const { streaming, retry: _, ...rest } = agent;
  const isText = piece.text !== undefined;
  const continues = streaming && (!isText || streaming.text === '' || streaming.id === id);
  const before = continues ? streaming : { id, text: '', reasoning: '' };
  return {
    ...rest,
    streaming: {
      id: isText ? id : before.id,
      text: before.text + (piece.text ?? ''),
      reasoning: before.reasoning + (piece.reasoning ?? ''),
    },
  };
}

function withoutLive(agent: TranscriptAgent): TranscriptAgent {
  if (!agent.streaming && agent.retry === undefined) return agent;
  const { streaming: _, retry: __, ...rest } = agent;
  return rest;
}

/** What an earlier turn left running was interrupted; a prompt that joins a turn interrupts nothing. */
function interruptOpen(agent: TranscriptAgent, delivery?: string): TranscriptAgent {
  if (delivery === 'steering') return agent;
  if (!agent.items.some((item) => item.type === 'tool' && item.state === 'running')) return agent;
  const items = agent.items.map(
    (item): TranscriptItem =>
      item.type === 'tool' && item.state === 'running' ? { ...item, state: 'interrupted' } : item,
  );
  return { ...agent, items };
}

function add(agent: TranscriptAgent, item: TranscriptItem): TranscriptAgent {
  return { ...agent, items: [...agent.items, item] };
}

function change(
  agent: TranscriptAgent,
  toolCallId: string,
  how: (tool: TranscriptTool) => TranscriptTool,
): TranscriptAgent {
  const at = agent.items.findLastIndex((item) => item.type === 'tool' && item.id === toolCallId);
  const tool = agent.items[at];
  if (tool?.type !== 'tool') return agent;
  const changed = how(tool);
  return changed === tool ? agent : { ...agent, items: agent.items.with(at, changed) };
}
