import { EventEmitter } from 'node:events';
import { leastOf, widestOf } from '../text/width.js';

/** The real terminal. */
export type Output = NodeJS.WriteStream;

/**
 * The terminal as Ink sees it. It differs in three things. Finished lines, for which Ink gets a mark each, are written as
 * they are. Ink never believes that the screen is full, so it never clears it. And when a narrower window has wrapped the
 * live lines anew, it is this screen that takes them away: it knows how many rows they have become.
 */
export class Screen extends EventEmitter {
  readonly isTTY = true;
  /** The live part has its own bound; a screen that Ink takes for full is cleared with all that is above it. */
  readonly rows = 100_000;
  private readonly printed = new Map<number, string>();
  private prints = 0;
  private drawn: Drawn = { widths: [], cursor: undefined };
  private knownColumns: number;
  private batch: string[] | undefined;
  private isSwallowing = false;
  /** Runs while a window is being resized. */
  private settling: NodeJS.Timeout | undefined;

  constructor(
    private readonly output: Output,
    private readonly options: { readonly reflows: boolean },
  ) {
    super();
    this.knownColumns = this.columns;
    output.on('resize', this.onResize);
  }

  get columns(): number {
    return this.output.columns || 80;
  }

  /** The rows that there really are. */
  get height(): number {
    return this.output.rows || 24;
  }

  get writableLength(): number {
    return this.output.writableLength;
  }

  /** False when the terminal is behind, or its window is being resized: nothing should be drawn before `onceReady` calls. */
  isReady(): boolean {
    this.askSize();
    return this.settling === undefined && !this.output.writableNeedDrain;
  }

  /** Calls when something can be drawn again. */
  onceReady(listener: () => void): void {
    if (this.settling === undefined) this.output.once('drain', listener);
    else this.once('resize', listener);
  }

  /** Keeps finished lines until Ink comes to them. */
  keep(text: string): number {
    this.prints += 1;
    this.printed.set(this.prints, text);
    return this.prints;
  }

  /** Called by Ink. What belongs to one frame is one write. */
  write(chunk: string, callback?: () => void): boolean {
    if (this.isSwallowing) {
      this.isSwallowing = false;
      return true;
    }
    if (chunk === frameStart) {
      this.askSize();
      this.batch = [this.rowsBelow()];
    }
    const text = marksOnly.test(chunk) ? this.takePrinted(chunk) : this.liveText(chunk);
    if (!this.batch) return this.output.write(text, callback);
    this.batch.push(text);
    if (chunk !== frameEnd) return true;
    const whole = this.batch.join('');
    this.batch = undefined;
    return this.output.write(whole, callback);
  }

  close(): void {
    this.output.off('resize', this.onResize);
    clearTimeout(this.settling);
  }

  /**
   * A window that is drawn by its corner has many sizes, and the terminal is at a later one than the program knows. What is
   * to be erased can only be counted when it has come to rest: with a size that was, lines above the live part would go.
   */
  private readonly onResize = (): void => {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), restMs);
  };

  /** The news of a new size may be on its way while a frame is drawn: where Node can ask the terminal, it is asked. */
  private askSize(): void {
    const output: Output & { readonly _refreshSize?: () => void } = this.output;
    if (output.isTTY && !output.destroyed) output._refreshSize?.();
  }

  /** Draws for the size there is. */
  settle(): void {
    clearTimeout(this.settling);
    this.settling = undefined;
    const isNarrower = this.columns < this.knownColumns;
    this.knownColumns = this.columns;
    if (isNarrower) {
      this.output.write(`\r${up(this.rowsAbove())}\u001b[J`);
      this.drawn = { widths: [], cursor: undefined };
      // Ink begins with taking away the rows that it has written: they are gone, and there may be others now.
      this.isSwallowing = true;
    }
    this.emit('resize');
    this.isSwallowing = false;
  }

  /**
   * Ink leaves the cursor on the line of input and goes down from there to take its lines away. A window that was lower for a
   * moment has dropped the rows below, and the cursor is on the last one: from there Ink would reach into printed lines. No
   * program learns of a window that is as high as before when it looks, so each frame begins with having these rows.
   */
  private rowsBelow(): string {
    const { widths, cursor } = this.drawn;
    const below = cursor === undefined ? 0 : widths.length - cursor.row;
    if (cursor === undefined || below <= 0) return '';
    return `${'\n'.repeat(below)}${up(below)}\u001b[${cursor.column + 1}G`;
  }

  /** How many rows the live lines take above the cursor, after the terminal has wrapped them anew. */
  private rowsAbove(): number {
    const { widths, cursor } = this.drawn;
    const rows = (width: number) => (this.options.reflows ? Math.max(1, Math.ceil(width / this.columns)) : 1);
    // The line of the cursor is left as it is by some terminals: to erase too little is better than too much.
    const above = widths.slice(0, cursor?.row ?? widths.length);
    return above.reduce((sum, width) => sum + rows(width), 0);
  }

  /**
   * Live lines stay in their rows: where a terminal takes a character for wider than this program does, the rest of the row is
   * cut off. A row more than was counted would be left behind. Rows that fit in any case are written as ever: should the
   * window be narrower by now, they become as many rows as are counted later, and no line above is taken for one of them.
   */
  private liveText(chunk: string): string {
    this.note(chunk);
    if (!chunk.includes('\n')) return chunk;
    const bounded = (row: string) => (this.mayOverflow(row) ? `${wrapOff}${row}${wrapOn}` : row);
    return chunk.split('\n').map(bounded).join('\n');
  }

  private mayOverflow(row: string): boolean {
    return widestOf(row.replace(sequences, '')) > this.columns;
  }

  /** A row that was cut off at the edge has no more to wrap. One that is taken for too wide would take a printed line along. */
  private readonly widthOf = (text: string): number => Math.min(leastOf(text), this.columns);

  private takePrinted(chunk: string): string {
    return chunk.replace(marks, (_, id: string) => {
      const text = this.printed.get(Number(id)) ?? '';
      this.printed.delete(Number(id));
      return text;
    });
  }

  /** Takes down what Ink has drawn: the widths of its lines, and where it has put the cursor. */
  private note(chunk: string): void {
    if (chunk === frameStart || chunk === frameEnd) return;
    const text = chunk.replace(sequences, '');
    const [, lines = '0', column] = cursorEnd.exec(chunk) ?? [];
    const widths = text.includes('\n') ? text.split('\n').slice(0, -1).map(this.widthOf) : this.drawn.widths;
    const isErased = text === '' && column === undefined && eraseLine.test(chunk);
    const cursor =
      column === undefined ? undefined : { row: widths.length - Number(lines), column: Number(column) - 1 };
    this.drawn = isErased ? { widths: [], cursor: undefined } : { widths, cursor };
  }
}

/** A window without a new size for so many milliseconds has come to rest. */
const restMs = 60;

/** What Ink is to print in the place of finished lines. */
export function markOf(id: number): string {
  return `\uFDEE${id}\uFDEF`;
}

interface Drawn {
  readonly widths: readonly number[];
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
}

const frameStart = '\u001b[?2026h';
const frameEnd = '\u001b[?2026l';
const wrapOff = '\u001b[?7l';
const wrapOn = '\u001b[?7h';
const marks = /\uFDEE(\d+)\uFDEF\n/g;
const marksOnly = /^(?:\uFDEE\d+\uFDEF\n)+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: Ink's own sequences
const sequences = /\u001b\[[0-9;?]*[A-Za-z]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: Ink's own sequences
const cursorEnd = /(?:\u001b\[(\d+)A)?\u001b\[(\d+)G\u001b\[\?25h$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: Ink's own sequences
const eraseLine = /\u001b\[2K/;

function up(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A` : '';
}
