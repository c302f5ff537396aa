import type { EventData, EventOf, SessionEvent } from '@groundcrew/protocol';

/** What a session waits for, as far as its events show. */
export class OpenWork {
  private readonly questions = new Map<string, OpenQuestion>();
  private readonly toolCalls = new Map<string, string>();

  receive(event: SessionEvent): void {
    switch (event.type) {
      case 'permission.requested':
        this.questions.set(event.data.requestId, permissionQuestion(event.data));
        break;
      case 'user_input.requested':
        this.questions.set(event.data.requestId, inputQuestion(event.data));
        break;
      case 'permission.completed':
      case 'user_input.completed':
        this.questions.delete(event.data.requestId);
        break;
      case 'tool.execution_start':
      case 'external_tool.requested':
        this.toolCalls.set(event.data.toolCallId, toolCallText(event));
        break;
      case 'tool.execution_complete':
        this.toolCalls.delete(event.data.toolCallId);
        break;
      case 'session.idle':
        this.questions.clear();
        this.toolCalls.clear();
        break;
      default:
        break;
    }
  }

  /** Every open question, and every running tool call that waits for none. */
  describe(): string {
    const questions = [...this.questions.values()];
    const asking = new Set(questions.map(({ toolCallId }) => toolCallId));
    const calls = [...this.toolCalls]
      .filter(([toolCallId]) => !asking.has(toolCallId))
      .map(([, text]) => text);
    const all = [...questions.map(({ text }) => text), ...calls];
    return all.length === 0 ? 'the model: no question and no tool call is open' : all.join('; ');
  }
}

interface OpenQuestion {
  readonly text: string;
  readonly toolCallId: string | undefined;
}

function permissionQuestion({
  permissionRequest,
  requestId,
}: EventData<'permission.requested'>): OpenQuestion {
  const { kind, toolCallId } = permissionRequest;
  const subject = 'toolName' in permissionRequest ? ` ${permissionRequest.toolName}` : '';
  return { text: `permission for ${kind}${subject} (request ${requestId})`, toolCallId };
}

function inputQuestion({ question, toolCallId }: EventData<'user_input.requested'>): OpenQuestion {
  const shown = question.length > 80 ? `${question.slice(0, 79)}…` : question;
  return { text: `an answer to ${JSON.stringify(shown)}`, toolCallId };
}

function toolCallText({ type, data }: EventOf<'tool.execution_start' | 'external_tool.requested'>): string {
  const runner = type === 'external_tool.requested' ? ', served by a client' : '';
  return `tool call ${data.toolName} (${data.toolCallId}${runner})`;
}
