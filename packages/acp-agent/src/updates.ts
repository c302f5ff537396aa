import type { ContentBlock, ToolCallContent } from '@agentclientprotocol/sdk';
import type { EventData, SessionEvent } from '@groundcrew/sdk';
import { changesOf } from './changes.js';
import type { Update } from './editor-context.js';
import { diffContent, resultContent, textContent, toolView } from './tool-view.js';

/** What of an editor's abilities decides how a session is shown. */
export interface ShownTo {
  readonly notices: boolean;
  readonly compaction: boolean;
}

/** Makes of the events of one session, stored or live, what its editor is shown. */
export class Updates {
  /** Messages and thoughts that were shown piece by piece. */
  private readonly streamed = new Set<string>();
  private readonly agents = new Map<string, string>();
  /** Calls without a result. */
  private readonly open = new Map<string, { readonly isEdit: boolean; readonly path: string | undefined }>();
  /** Prompts that this editor has sent, and shows itself. */
  private readonly own = new Set<string>();
  /** The terminals of the editor that calls run in. */
  private readonly terminals = new Map<string, string>();
  private compactions = 0;
  private cost = 0;

  constructor(
    private readonly workingDirectory: string,
    private readonly shown: ShownTo,
  ) {}

  /** The editor has sent this prompt. */
  sent(messageId: string): void {
    this.own.add(messageId);
  }

  /** A call runs in a terminal of the editor. */
  terminal(toolCallId: string, terminalId: string): Update {
    this.terminals.set(toolCallId, terminalId);
    const content: ToolCallContent[] = [{ type: 'terminal', terminalId }];
    return { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress', content };
  }

  /** What the editor is shown of one event. */
  of(event: SessionEvent): readonly Update[] {
    if (event.agentId !== undefined) return this.ofSubAgent(event);
    switch (event.type) {
      case 'user.message':
        return [...this.interrupted(event.data.delivery), ...this.prompt(event.data)];
      case 'abort':
        return this.interrupted();
      case 'assistant.message_delta':
        this.streamed.add(event.data.messageId);
        return [chunk('agent_message_chunk', event.data.deltaContent, event.data.messageId)];
      case 'assistant.reasoning_delta':
        this.streamed.add('reasoning');
        return [chunk('agent_thought_chunk', event.data.deltaContent, event.data.reasoningId)];
      case 'assistant.message':
        return this.message(event.data);
      case 'session.title_changed':
        return [{ sessionUpdate: 'session_info_update', title: event.data.title }];
      case 'session.mode_changed':
        return [{ sessionUpdate: 'current_mode_update', currentModeId: event.data.newMode }];
      case 'assistant.usage':
        this.cost += event.data.cost ?? 0;
        return [];
      case 'session.usage_info': {
        const { currentTokens: used, tokenLimit: size } = event.data;
        const cost = { amount: this.cost, currency: 'USD' };
        return [{ sessionUpdate: 'usage_update', used, size, ...(this.cost > 0 && { cost }) }];
      }
      default:
        return [...this.tool(event), ...this.notice(event)];
    }
  }

  /** Of a sub-agent its calls are shown, by its name; its words are its parent's to use. */
  private ofSubAgent(event: SessionEvent): readonly Update[] {
    const { agentId = '' } = event;
    if (event.type === 'subagent.started') this.agents.set(agentId, event.data.agentDisplayName);
    return this.tool(event, this.agents.get(agentId) ?? agentId);
  }

  private prompt({ content, attachments = [], messageId }: EventData<'user.message'>): readonly Update[] {
    if (messageId !== undefined && this.own.delete(messageId)) return [];
    return [
      chunk('user_message_chunk', content, messageId),
      ...attachments.flatMap((each): Update[] => {
        const block = attached(each);
        return block ? [{ sessionUpdate: 'user_message_chunk', content: block }] : [];
      }),
    ];
  }

  private message({ messageId, content, reasoningText }: EventData<'assistant.message'>): readonly Update[] {
    const thought =
      reasoningText !== undefined && reasoningText !== '' && !this.streamed.delete('reasoning')
        ? [chunk('agent_thought_chunk', reasoningText)]
        : [];
    this.streamed.delete('reasoning');
    if (this.streamed.delete(messageId) || content === '') return thought;
    return [...thought, chunk('agent_message_chunk', content, messageId)];
  }

  private tool(event: SessionEvent, agent?: string): readonly Update[] {
    switch (event.type) {
      case 'tool.execution_start': {
        const { toolCallId, toolName } = event.data;
        // A call that begins again after a resume is the same call.
        if (this.open.has(toolCallId))
          return [{ sessionUpdate: 'tool_call_update', toolCallId, status: 'pending' }];
        const { title, ...view } = toolView(event.data, this.workingDirectory);
        this.open.set(toolCallId, { isEdit: view.kind === 'edit', path: view.locations[0]?.path });
        return [
          {
            sessionUpdate: 'tool_call',
            toolCallId,
            name: toolName,
            title: agent === undefined ? title : `${agent}: ${title}`,
            status: 'pending',
            rawInput: event.data.arguments,
            ...view,
          },
        ];
      }
      case 'tool.execution_partial_result': {
        const { toolCallId, partialOutput } = event.data;
        return [running(toolCallId, partialOutput)];
      }
      case 'tool.execution_progress':
        return [running(event.data.toolCallId, event.data.progressMessage)];
      case 'external_tool.requested':
        return [
          {
            sessionUpdate: 'tool_call_update',
            toolCallId: event.data.toolCallId,
            status: 'in_progress',
          },
        ];
      case 'tool.execution_complete': {
        const call = this.open.get(event.data.toolCallId);
        this.open.delete(event.data.toolCallId);
        const update = completed(event.data, call?.isEdit ? call.path : undefined);
        const terminalId = this.terminals.get(event.data.toolCallId);
        if (terminalId === undefined) return [update];
        // The terminal shows what came of it.
        return [{ ...update, content: [{ type: 'terminal', terminalId }] }];
      }
      default:
        return [];
    }
  }

  /** What an earlier turn left open was interrupted; a prompt that joins a turn interrupts nothing. */
  private interrupted(delivery?: string): readonly Update[] {
    if (delivery === 'steering') return [];
    const calls = [...this.open.keys()];
    this.open.clear();
    return calls.map((toolCallId) => ({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: 'failed',
      content: [textContent('Interrupted')],
    }));
  }

  private notice(event: SessionEvent): readonly Update[] {
    switch (event.type) {
      case 'session.warning':
        return this.say('warning', event.data.message);
      case 'session.info':
        return this.say('info', event.data.message);
      case 'session.error':
        return this.say('error', event.data.message);
      case 'session.compaction_start':
        this.compactions += 1;
        return this.compaction('in_progress');
      case 'session.compaction_complete': {
        const { success, error } = event.data;
        return this.compaction(success ? 'completed' : 'failed', error);
      }
      default:
        return [];
    }
  }

  private say(severity: 'info' | 'warning' | 'error', title: string): readonly Update[] {
    return this.shown.notices ? [{ sessionUpdate: 'notice', severity, title }] : [];
  }

  private compaction(status: 'in_progress' | 'completed' | 'failed', error?: string): readonly Update[] {
    if (!this.shown.compaction) return [];
    const compactionId = `c${this.compactions}`;
    return [{ sessionUpdate: 'compaction_update', compactionId, status, ...(error && { error }) }];
  }
}

function running(toolCallId: string, text: string): Update {
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: 'in_progress',
    content: [textContent(text)],
  };
}

/** Shows an edit as its diff, and any other call by its output. */
function completed(
  data: EventData<'tool.execution_complete'>,
  edited: string | undefined,
): Extract<Update, { sessionUpdate: 'tool_call_update' }> {
  const { toolCallId, success, result } = data;
  const changes = success && edited !== undefined ? changesOf(result?.detailedContent ?? '', edited) : [];
  const content = changes.length > 0 ? changes.map(diffContent) : resultContent(data);
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: success ? 'completed' : 'failed',
    ...(content.length > 0 && { content }),
    ...(result && { rawOutput: { content: result.content } }),
  };
}

function chunk(
  kind: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
  messageId?: string,
): Update {
  return {
    sessionUpdate: kind,
    content: { type: 'text', text },
    ...(messageId !== undefined && { messageId }),
  };
}

type Attachment = NonNullable<EventData<'user.message'>['attachments']>[number];

function attached(attachment: Attachment): ContentBlock | undefined {
  if (attachment.type === 'file' || attachment.type === 'directory') {
    const { path, displayName } = attachment;
    return { type: 'resource_link', uri: `file://${path}`, name: displayName };
  }
  if (attachment.type !== 'blob' || !attachment.data || !attachment.mimeType.startsWith('image/'))
    return undefined;
  return { type: 'image', data: attachment.data, mimeType: attachment.mimeType };
}
