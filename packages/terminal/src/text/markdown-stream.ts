import type { Token, Tokens } from 'marked';
import { cleanLine } from './clean.js';
import { type CodeState, highlight } from './highlight.js';
import { blockLines, codeIndent, endsBlank } from './markdown.js';
import { blocksOf } from './markdown-blocks.js';
import type { Line } from './span.js';

/** A block of code whose end has not come yet. */
interface Fence {
  readonly mark: string;
  readonly language: string;
  readonly state: CodeState;
}

/**
 * A Markdown text that arrives in pieces. Lines come out once, when nothing that follows can change them; the rest is
 * shown as it stands.
 */
export class MarkdownStream {
  private rest = '';
  private fence: Fence | undefined;
  private isBlankDue = false;
  private hasBegun = false;

  constructor(private readonly columns: number) {}

  /** More of the text; the lines that are finished by it. */
  push(piece: string): readonly Line[] {
    this.rest += piece;
    return this.settle(false);
  }

  /** No more comes: all lines that are left. */
  end(): readonly Line[] {
    const lines = this.settle(true);
    this.rest = '';
    return lines;
  }

  /** What is there of unfinished lines; it changes with the next piece. */
  tail(): readonly Line[] {
    const probe = new MarkdownStream(this.columns);
    probe.rest = this.rest;
    probe.fence = this.fence;
    probe.isBlankDue = this.isBlankDue;
    probe.hasBegun = this.hasBegun;
    return probe.settle(true);
  }

  private settle(isFinal: boolean): readonly Line[] {
    const lines: Line[] = [];
    for (;;) {
      const before = this.rest;
      lines.push(...(this.fence ? this.takeCode(this.fence, isFinal) : this.takeBlocks(isFinal)));
      if (this.rest === before || this.rest === '') return lines;
    }
  }

  /** The lines of code that are complete, up to the end of the block. */
  private takeCode(fence: Fence, isFinal: boolean): readonly Line[] {
    const lines: Line[] = [];
    let { state } = fence;
    for (;;) {
      const end = this.rest.indexOf('\n');
      if (end < 0 && (!isFinal || this.rest === '')) break;
      const text = end < 0 ? this.rest : this.rest.slice(0, end);
      this.rest = end < 0 ? '' : this.rest.slice(end + 1);
      if (isClosing(text, fence.mark)) {
        this.fence = undefined;
        this.isBlankDue = /^[ \t]*\n/.test(this.rest);
        return lines;
      }
      const done = highlight(cleanLine(text), fence.language, state);
      state = done.state;
      lines.push([codeIndent, ...done.line]);
    }
    this.fence = { ...fence, state };
    return lines;
  }

  private takeBlocks(isFinal: boolean): readonly Line[] {
    const tokens = blocksOf(this.rest);
    const last = tokens.findLastIndex(({ type }) => type !== 'space');
    const lines: Line[] = [];
    for (const [index, token] of tokens.entries()) {
      if (!isFinal && index >= last) {
        if (index === last) lines.push(...this.takePart(token));
        return lines;
      }
      lines.push(...this.show(token));
      this.rest = this.rest.slice(token.raw.length);
    }
    this.rest = '';
    return lines;
  }

  /** What is finished of the last block: the opening of code, all items of a list but the last. */
  private takePart(token: Token): readonly Line[] {
    const fence = openFence(token);
    if (fence) {
      this.rest = this.rest.slice(this.rest.indexOf('\n') + 1);
      this.fence = fence;
      return this.blank();
    }
    if (token.type !== 'list') return [];
    const list = token as Tokens.List;
    const done = list.items.slice(0, -1);
    if (done.length === 0) return [];
    const raw = done.map((item) => item.raw).join('');
    if (!this.rest.startsWith(raw)) return [];
    this.rest = this.rest.slice(raw.length);
    return this.show({ ...list, items: done, raw });
  }

  private show(token: Token): readonly Line[] {
    const lines = blockLines(token, this.columns);
    const shown = lines.length === 0 ? [] : [...this.blank(), ...lines];
    if (lines.length > 0) this.hasBegun = true;
    if (endsBlank(token)) this.isBlankDue = true;
    return shown;
  }

  private blank(): readonly Line[] {
    const isDue = this.isBlankDue && this.hasBegun;
    this.isBlankDue = false;
    this.hasBegun = true;
    return isDue ? [[]] : [];
  }
}

/** A block of code that is open, and whose first line is complete. */
function openFence(token: Token): Fence | undefined {
  if (token.type !== 'code') return undefined;
  const [, mark = '', info = ''] = /^(`{3,}|~{3,})([^\n]*)\n/.exec(token.raw) ?? [];
  if (mark === '') return undefined;
  const lines = token.raw.replace(/\n+$/, '').split('\n');
  if (lines.length > 1 && isClosing(lines.at(-1) ?? '', mark)) return undefined;
  return { mark, language: info.trim().split(/[\s,{]/)[0] ?? '', state: {} };
}

function isClosing(text: string, mark: string): boolean {
  const trimmed = text.trim();
  return trimmed.length >= mark.length && trimmed === (mark[0] ?? '').repeat(trimmed.length);
}
