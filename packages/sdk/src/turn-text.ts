import type { SessionEvent } from '@groundcrew/protocol';

/** What the agent says in the turn of one prompt, as pieces of text that are never taken back. */
export class TurnText {
  /** The message whose pieces arrive. */
  private messageId: string | undefined;
  /** What has arrived of it. */
  private arrived = '';
  /** What has been passed on of it, and of attempts at it that broke off. */
  private passed = '';
  private isMidLine = false;

  constructor(
    private readonly promptId: string,
    private stage: 'before' | 'during' | 'over' = 'before',
  ) {}

  get hasBegun(): boolean {
    return this.stage !== 'before';
  }

  get isOver(): boolean {
    return this.stage === 'over';
  }

  /** The next piece; empty when the event says nothing new. */
  receive(event: SessionEvent): string {
    if (event.agentId !== undefined) return '';
    if (event.type === 'user.message') this.receivePrompt(event.data);
    if (this.stage !== 'during') return '';
    if (event.type === 'assistant.message_delta') {
      const { messageId, deltaContent, parentToolCallId } = event.data;
      return parentToolCallId === undefined ? this.takePiece(messageId, deltaContent) : '';
    }
    if (event.type !== 'assistant.message' || event.data.parentToolCallId !== undefined) return '';
    return this.takeWhole(event.data.content);
  }

  /** With runtimes that do not say whose prompt it is, the next prompt counts. */
  private receivePrompt({ messageId, delivery }: { messageId?: string; delivery?: string }): void {
    if (this.stage === 'before' && (messageId === undefined || messageId === this.promptId))
      this.stage = 'during';
    else if (this.stage === 'during' && delivery !== 'steering') this.stage = 'over';
  }

  private takePiece(messageId: string, piece: string): string {
    // What an attempt said before it broke off is void: the next one begins from the start.
    if (this.messageId !== messageId) this.arrived = '';
    this.messageId = messageId;
    this.arrived += piece;
    // As long as an attempt only repeats what was said before, there is nothing to pass on.
    return this.passed.startsWith(this.arrived) ? '' : this.passOn();
  }

  private takeWhole(content: string): string {
    this.arrived = content;
    const rest = this.passed === content ? '' : this.passOn();
    this.messageId = undefined;
    this.arrived = '';
    this.passed = '';
    return rest;
  }

  private passOn(): string {
    const { arrived, passed } = this;
    const isContinued = passed !== '' && arrived.startsWith(passed);
    const text = isContinued ? arrived.slice(passed.length) : arrived;
    if (text === '') return '';
    const isNewLine = this.isMidLine && !isContinued;
    this.passed = arrived;
    this.isMidLine = !text.endsWith('\n');
    return isNewLine ? `\n${text}` : text;
  }
}
