import type { SessionEvent } from '@groundcrew/sdk';
import { describeEvent } from './describe.js';
import type { Redactor } from './redact.js';
import type { Output } from './terminal.js';
import { harmless } from './visible.js';

/** Where a display writes. */
export interface DisplayOptions {
  readonly output: Output;
  readonly errorOutput: Output;
  readonly redactor: Redactor;
}

/** Shows a session as it goes: answers on stdout as they come, everything else as lines on stderr. */
export class Display {
  private isMidLine = false;
  /** The message whose pieces are being shown. */
  private streaming: string | undefined;

  constructor(private readonly options: DisplayOptions) {}

  show(event: SessionEvent): void {
    if (event.agentId === undefined && this.isAnswer(event)) return;
    const line = describeEvent(event);
    if (line !== undefined) this.note(line);
  }

  /** A line beside the answer. */
  note(text: string): void {
    const { output, errorOutput, redactor } = this.options;
    if (this.isMidLine && output.isTTY && errorOutput.isTTY) this.endLine();
    errorOutput.write(`${redactor.text(text)}\n`);
  }

  /** What comes next begins on a line of its own. */
  endLine(): void {
    if (this.isMidLine) this.write('\n');
  }

  private isAnswer(event: SessionEvent): boolean {
    if (event.type === 'assistant.message_delta') {
      if (event.data.parentToolCallId !== undefined) return true;
      if (this.streaming !== event.data.messageId) this.endLine();
      this.streaming = event.data.messageId;
      this.write(event.data.deltaContent);
      return true;
    }
    if (event.type !== 'assistant.message') return false;
    if (event.data.parentToolCallId !== undefined) return true;
    if (this.streaming !== event.data.messageId) this.write(event.data.content);
    this.streaming = undefined;
    this.endLine();
    return true;
  }

  private write(text: string): void {
    if (text === '') return;
    const { output } = this.options;
    output.write(output.isTTY ? harmless(text) : text);
    this.isMidLine = !text.endsWith('\n');
  }
}
