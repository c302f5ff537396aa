import type { Transcript, TranscriptItem, TranscriptMessage } from '@groundcrew/sdk';
import { MarkdownStream } from '../text/markdown-stream.js';
import { cut, type Line, line, span } from '../text/span.js';
import { hasText, noticeLines, promptLines, reasoningLines } from './item-lines.js';
import { agentLine, type Folded, runningLines, type Shown, toolLines } from './tool-lines.js';

/** An answer that is arriving: what was printed of it. */
interface Arriving {
  /** The text that was given to the lines below. */
  source: string;
  readonly markdown: MarkdownStream;
  isReasoningShown: boolean;
}

/** Of what waits behind a running call, so many are in sight. */
const mostHeld = 40;

/** How many folded texts can be unfolded later. */
const mostFolded = 50;

/**
 * Turns a transcript into lines that are printed once. What can still change is not among them: a running call, the end of
 * an answer that is arriving. These are the live lines.
 */
export class Printer {
  private printed = 0;
  private arriving: Arriving | undefined;
  private last: TranscriptItem['type'] | undefined;
  private readonly folded: Folded[] = [];
  /** Agents whose call is printed while they go on. */
  private readonly awaited = new Set<string>();

  constructor(private readonly columns: () => number) {}

  /** Whether finished items wait to be printed. */
  isBehind(transcript: Transcript): boolean {
    const item = transcript.main.items[this.printed];
    return item !== undefined && !isOpen(item);
  }

  /** How many of the items that a log keeps are printed. */
  storedCount({ main }: Transcript): number {
    const printed = main.items.slice(0, this.printed);
    return printed.filter((item) => item.type !== 'notice' || !item.isEphemeral).length;
  }

  /** Takes so many items for printed: another screen of the same terminal has shown them. */
  skip(items: number): void {
    this.printed = items;
  }

  /** The next finished lines: those of one item, or of the answer that is arriving. */
  *next(transcript: Transcript): Generator<readonly Line[]> {
    const { items } = transcript.main;
    for (;;) {
      const item = items[this.printed];
      if (!item) break;
      if (isOpen(item)) return;
      const broken = item.type === 'message' || item.type === 'notice' ? [] : this.breakOff();
      this.printed += 1;
      yield [...broken, ...this.itemLines(item, transcript)];
    }
    yield this.endedAgents(transcript);
    const { streaming, isTurnOpen } = transcript.main;
    if (streaming) yield this.arrive(streaming);
    else if (!isTurnOpen && transcript.isIdle) yield this.breakOff();
  }

  /** What can still change. */
  live(transcript: Transcript): readonly Line[] {
    const { items, streaming } = transcript.main;
    // What is finished is printed in a moment; only what waits for a call that runs is held, and of that the end is shown.
    const waiting = this.isBehind(transcript)
      ? []
      : items.slice(Math.max(this.printed, items.length - mostHeld));
    const held = waiting.flatMap((item): readonly Line[] => {
      if (item.type === 'tool' && item.state === 'running') return runningLines(item, transcript);
      return new Printer(this.columns).itemLines(item, transcript);
    });
    const thinking =
      streaming && streaming.text === '' && streaming.reasoning.trim() !== ''
        ? [thinkingLine(streaming.reasoning, this.columns())]
        : [];
    return [...held, ...thinking, ...(this.arriving?.markdown.tail() ?? [])];
  }

  /** The text that was folded last, once. */
  unfold(): Folded | undefined {
    return this.folded.pop();
  }

  private itemLines(item: TranscriptItem, transcript: Transcript): readonly Line[] {
    const before = this.last;
    this.last = item.type;
    switch (item.type) {
      case 'prompt':
        return apart(this.keep(promptLines(item, this.columns())));
      case 'notice':
        return noticeLines(item, this.columns());
      case 'tool': {
        for (const { id, toolCallId, state } of transcript.agents)
          if (toolCallId === item.id && state === 'running' && id !== undefined) this.awaited.add(id);
        const lines = this.keep(toolLines(item, transcript));
        return before === 'tool' ? lines : apart(lines);
      }
      case 'message':
        return this.messageLines(item);
    }
  }

  private messageLines(message: TranscriptMessage): readonly Line[] {
    const broken = this.isContinuation(message.text) ? [] : this.breakOff();
    const arriving = this.arriving ?? this.begin();
    const reasoning =
      message.reasoning !== undefined && !arriving.isReasoningShown
        ? apart(this.keep(reasoningLines(message.reasoning)))
        : [];
    const isNew = arriving.source === '';
    const body = [
      ...arriving.markdown.push(message.text.slice(arriving.source.length)),
      ...arriving.markdown.end(),
    ];
    this.arriving = undefined;
    const text = isNew && hasText(message) && body.length > 0 ? apart(body) : body;
    return [...broken, ...reasoning, ...text];
  }

  /** More of the answer. One that begins anew with the same words goes on where it was. */
  private arrive(streaming: { readonly text: string; readonly reasoning: string }): readonly Line[] {
    const { text, reasoning } = streaming;
    if (text.trim() === '' || this.arriving?.source.startsWith(text)) return [];
    const broken = this.isContinuation(text) ? [] : this.breakOff();
    const arriving = this.arriving ?? this.begin();
    const thought =
      !arriving.isReasoningShown && reasoning.trim() !== ''
        ? apart(this.keep(reasoningLines(reasoning)))
        : [];
    arriving.isReasoningShown ||= thought.length > 0;
    const isNew = arriving.source === '';
    const lines = arriving.markdown.push(text.slice(arriving.source.length));
    arriving.source = text;
    this.last = 'message';
    // The empty line above an answer comes with its first words, finished or not.
    return [...broken, ...thought, ...(isNew ? apart(lines) : lines)];
  }

  private isContinuation(text: string): boolean {
    return text.startsWith(this.arriving?.source ?? '');
  }

  private begin(): Arriving {
    this.arriving = { source: '', markdown: new MarkdownStream(this.columns()), isReasoningShown: false };
    return this.arriving;
  }

  /** The rest of an answer that will not be completed. */
  private breakOff(): readonly Line[] {
    const { arriving } = this;
    this.arriving = undefined;
    if (!arriving || arriving.source === '') return [];
    return [...arriving.markdown.end(), line('· the answer broke off here', 'dim')];
  }

  private endedAgents({ agents }: Transcript): readonly Line[] {
    if (this.awaited.size === 0) return [];
    return agents.flatMap((agent) => {
      if (agent.id === undefined || agent.state === 'running' || !this.awaited.delete(agent.id)) return [];
      return [[span('◦ ', 'dim'), ...agentLine(agent)]];
    });
  }

  private keep({ lines, folded }: Shown): readonly Line[] {
    if (folded) this.folded.push(folded);
    if (this.folded.length > mostFolded) this.folded.shift();
    return lines;
  }
}

/** With an empty line above. */
function apart(lines: readonly Line[]): readonly Line[] {
  return [[], ...lines];
}

function isOpen(item: TranscriptItem): boolean {
  return item.type === 'tool' && item.state === 'running';
}

function thinkingLine(reasoning: string, columns: number): Line {
  const text = reasoning.trim().split('\n').at(-1) ?? '';
  return cut([span('✻ ', 'accent'), span(text, 'dim', 'italic')], columns);
}
