import type { EventData, EventOf, SessionEvent } from '@groundcrew/protocol';

/** What a session waits for, as far as its events tell. */
export class OpenWork {
  private readonly questions = new Map<string, { readonly text: string; readonly toolCallId?: string | undefined }>();
  private readonly toolCalls = new Map<string, string>();

  hear(event: SessionEvent): void {
    switch (event.type) {
      case 'permission.requested':
        return this.open(event.data.requestId, permissionText(event.data), event.data.permissionRequest.toolCallId);
      case 'user_input.requested':
        return this.open(event.data.requestId, `an answer to ${quote(event.data.question)}`, event.data.toolCallId);
      case 'permission.completed':
      case 'user_input.completed':
        this.questions.delete(event.data.requestId);
        return;
      case 'tool.execution_start':
      case 'external_tool.requested':
        return this.begin(event);
      case 'tool.execution_complete':
        this.toolCalls.delete(event.data.toolCallId);
        return;
      case 'session.idle':
        return this.clear();
      default:
        return;
    }
  }

  /** Every open question, and every running tool call that waits for none. */
  describe(): string {
    const questions = [...this.questions.values()];
    const asking = new Set(questions.map(({ toolCallId }) => toolCallId));
    const calls = [...this.toolCalls].filter(([toolCallId]) => !asking.has(toolCallId)).map(([, text]) => text);
    const all = [...questions.map(({ text }) => text), ...calls];
    return all.length === 0 ? 'the model: no question and no tool call is open' : all.join('; ');
  }

  private open(requestId: string, text: string, toolCallId: string | undefined): void {
    this.questions.set(requestId, { text, toolCallId });
  }

  private begin({ type, data }: EventOf<'tool.execution_start' | 'external_tool.requested'>): void {
    const runner = type === 'external_tool.requested' ? ', served by a client' : '';
    this.toolCalls.set(data.toolCallId, `tool call ${data.toolName} (${data.toolCallId}${runner})`);
  }

  private clear(): void {
    this.questions.clear();
    this.toolCalls.clear();
  }
}

function permissionText({ permissionRequest, requestId }: EventData<'permission.requested'>): string {
  const subject = 'toolName' in permissionRequest ? ` ${permissionRequest.toolName}` : '';
  return `permission for ${permissionRequest.kind}${subject} (request ${requestId})`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);
}
