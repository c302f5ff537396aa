import {
  type EventData,
  emptyTranscript,
  foldTranscript,
  type SessionEvent,
  type TranscriptAgent,
} from '@groundcrew/sdk';
import type { Redactor } from '../log/redact.js';
import { describeAgent, describeEvent } from './describe.js';
import type { Output } from './terminal.js';
import { harmless, visible } from './visible.js';
import type { WaitingIndicator } from './waiting-indicator.js';

/** Where a display writes. */
export interface DisplayOptions {
  readonly output: Output;
  readonly errorOutput: Output;
  readonly redactor: Redactor;
  /** Only a terminal has one. */
  readonly indicator?: WaitingIndicator;
}

/**
 * Shows a session as it goes: answers on stdout, everything else as lines on stderr. A terminal gets an answer piece by
 * piece. A pipe or a file gets it when it is complete, because an answer that breaks off is asked for again.
 */
export class Display {
  private transcript = emptyTranscript;
  private isMidLine = false;
  /** The message whose pieces are arriving. */
  private streaming: string | undefined;
  /** What has arrived of it and is not written yet. */
  private held = '';

  constructor(private readonly options: DisplayOptions) {}

  show(event: SessionEvent): void {
    this.transcript = foldTranscript(this.transcript, event);
    this.options.indicator?.follow(this.transcript);
    if (event.agentId === undefined && this.isAnswer(event)) return;
    const agent = this.transcript.agents.find(({ id }) => id !== undefined && id === event.agentId);
    if (agent && isLife(event)) this.note(`${this.indentOf(agent)}${visible(describeAgent(agent))}`);
    const line = describeEvent(event);
    if (line !== undefined) this.note(agent ? `${this.indentOf(agent)}  ${line}` : line);
  }

  /** Agents stand below those that began them. */
  private indentOf({ parentId }: TranscriptAgent): string {
    const parent = this.transcript.agents.find(({ id }) => id !== undefined && id === parentId);
    return parent ? `  ${this.indentOf(parent)}` : '  ';
  }

  /** A line beside the answer. */
  note(text: string): void {
    const { output, errorOutput, redactor, indicator } = this.options;
    indicator?.erase();
    if (this.isMidLine && output.isTTY && errorOutput.isTTY) this.endLine();
    errorOutput.write(`${redactor.text(text)}\n`);
  }

  /** Writes what is held of an answer that will not be completed; what comes next begins on a line of its own. */
  endLine(): void {
    const { held } = this;
    this.held = '';
    this.write(held);
    if (this.isMidLine) this.write('\n');
  }

  private isAnswer(event: SessionEvent): boolean {
    if (event.type === 'assistant.message_delta') {
      if (event.data.parentToolCallId === undefined) this.takePiece(event.data);
      return true;
    }
    if (event.type !== 'assistant.message') return false;
    if (event.data.parentToolCallId !== undefined) return true;
    const isWritten = this.options.output.isTTY && this.streaming === event.data.messageId;
    this.held = '';
    this.streaming = undefined;
    if (!isWritten) this.write(event.data.content);
    this.endLine();
    return true;
  }

  private takePiece({ messageId, deltaContent }: EventData<'assistant.message_delta'>): void {
    const { isTTY } = this.options.output;
    if (this.streaming !== messageId) {
      // What an attempt said before it broke off is void.
      this.held = '';
      this.endLine();
    }
    this.streaming = messageId;
    if (isTTY) this.write(deltaContent);
    else this.held += deltaContent;
  }

  private write(text: string): void {
    if (text === '') return;
    const { output, indicator } = this.options;
    indicator?.erase();
    output.write(output.isTTY ? harmless(text) : text);
    this.isMidLine = !text.endsWith('\n');
  }
}

/** An agent begins, or has ended. */
function isLife({ type }: SessionEvent): boolean {
  return type === 'subagent.started' || type === 'subagent.completed' || type === 'subagent.failed';
}
