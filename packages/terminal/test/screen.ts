import { join } from 'node:path';
import { type IPty, spawn } from '@lydell/node-pty';
import { type IBufferCell, Terminal } from '@xterm/headless';

/** What users start. */
export const program = join(import.meta.dirname, '../../cli/bin/groundcrew.js');

/** A screen that shows nothing for so long will not; the error has what it shows instead. */
const usualPatience = 10_000;

/** A piece of a row that looks the same. */
export interface Run {
  readonly column: number;
  readonly text: string;
  readonly colour: string;
  readonly isBold: boolean;
}

/** How a program is started on a terminal; nothing else of the environment is there. */
export interface ScreenOptions {
  readonly args?: readonly string[];
  /** Runs in the place of the program: a shell that starts it. */
  readonly shell?: readonly [string, ...string[]];
  readonly columns?: number;
  readonly rows?: number;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Milliseconds to wait for what is to be seen. */
  readonly patience?: number;
}

/** The program on a real pseudo-terminal, and a terminal emulator that shows what it writes. */
export class TestScreen {
  /** All bytes that the program has written, as they are. */
  raw = '';
  readonly ended: Promise<number>;
  private readonly pty: IPty;
  private readonly terminal: Terminal;
  private isOver = false;
  private first = 0;
  private readonly patience: number;
  private readonly waiting = new Set<() => void>();

  constructor(options: ScreenOptions) {
    const { args = [], shell, columns = 80, rows = 24, directory, environment } = options;
    const [command, ...words] = shell ?? [process.execPath, program, ...args];
    this.patience = options.patience ?? usualPatience;
    this.terminal = new Terminal({ cols: columns, rows, scrollback: 200_000, allowProposedApi: true });
    this.pty = spawn(command, words, {
      cols: columns,
      rows,
      cwd: directory,
      env: { PATH: process.env.PATH ?? '', TERM: 'xterm-256color', ...environment },
    });
    this.pty.onData((data) => {
      this.raw += data;
      this.terminal.write(data, () => this.changed());
    });
    // What an emulator answers to questions about itself.
    this.terminal.onData((data) => this.pty.write(data));
    this.ended = new Promise((resolve) => {
      this.pty.onExit(({ exitCode }) => {
        this.isOver = true;
        this.changed();
        resolve(exitCode);
      });
    });
  }

  get pid(): number {
    return this.pty.pid;
  }

  get isAlive(): boolean {
    return !this.isOver;
  }

  type(text: string): void {
    this.pty.write(text);
  }

  /** Types a line and presses Enter. */
  enter(text: string): void {
    this.type(`${text}\r`);
  }

  paste(text: string): void {
    this.type(`\u001b[200~${text}\u001b[201~`);
  }

  resize(columns: number, rows: number): void {
    this.terminal.resize(columns, rows);
    this.pty.resize(columns, rows);
  }

  /** The window has another size for less than a moment: no program learns of it. */
  flicker(columns: number, rows: number): void {
    const { cols, rows: before } = this.terminal;
    this.terminal.resize(columns, rows);
    this.terminal.resize(cols, before);
  }

  /** The terminal reads nothing more, until it is told to go on. */
  stopReading(): () => void {
    this.pty.pause();
    return () => this.pty.resume();
  }

  /** Where the cursor is: from the top of the screen, from the left. */
  get cursor(): { readonly row: number; readonly column: number } {
    const { cursorX, cursorY } = this.terminal.buffer.active;
    return { row: cursorY, column: cursorX };
  }

  /** The rows that are on the screen. */
  get rows(): readonly string[] {
    const { baseY } = this.terminal.buffer.active;
    return Array.from({ length: this.terminal.rows }, (_, at) => this.rowAt(baseY + at));
  }

  /** The rows on the screen as they look. */
  get runs(): readonly (readonly Run[])[] {
    const { baseY } = this.terminal.buffer.active;
    return Array.from({ length: this.terminal.rows }, (_, at) => runsOf(this.terminal, baseY + at));
  }

  /** All lines, those that have left the screen too; what the terminal wrapped is one line again. */
  get lines(): readonly string[] {
    const { active } = this.terminal.buffer;
    const lines: string[] = [];
    for (let at = 0; at < active.length; at++) {
      const isWrapped = active.getLine(at)?.isWrapped === true;
      if (isWrapped && lines.length > 0) lines[lines.length - 1] += this.rowAt(at);
      else lines.push(this.rowAt(at));
    }
    while (lines.at(-1) === '') lines.pop();
    return lines;
  }

  /** The lines since the last mark. */
  get text(): string {
    return this.newLines.join('\n');
  }

  get newLines(): readonly string[] {
    return this.lines.slice(this.first);
  }

  /** What is printed already is looked at no more; the live part is. */
  mark(): void {
    this.first = Math.max(0, this.lines.findLastIndex((text) => text.startsWith('❯ ')) - 2);
  }

  /** Resolves when the words are on the screen or above it. */
  sees(words: string): Promise<void> {
    return this.until(words, () => this.text.includes(words));
  }

  /** Resolves when the words are there no more. */
  misses(words: string): Promise<void> {
    return this.until(`no ${words}`, () => !this.text.includes(words));
  }

  /** Resolves when it is so. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    const began = Date.now();
    while (!isSo()) {
      if (Date.now() - began > this.patience)
        throw new Error(`The screen never showed ${what}:\n${this.text}`);
      if (this.isOver) throw new Error(`The program ended before it showed ${what}:\n${this.text}`);
      await new Promise<void>((resolve) => {
        const late = setTimeout(() => {
          this.waiting.delete(check);
          resolve();
        }, 100);
        const check = () => {
          clearTimeout(late);
          this.waiting.delete(check);
          resolve();
        };
        this.waiting.add(check);
      });
    }
  }

  /** Ends it at once, however it stands. */
  async kill(): Promise<void> {
    if (!this.isOver) this.pty.kill('SIGKILL');
    await this.ended;
    this.terminal.dispose();
  }

  private rowAt(at: number): string {
    return this.terminal.buffer.active.getLine(at)?.translateToString(true) ?? '';
  }

  private changed(): void {
    for (const check of [...this.waiting]) check();
  }
}

/** Neighbouring cells that look the same are one run. */
function runsOf(terminal: Terminal, at: number): readonly Run[] {
  const line = terminal.buffer.active.getLine(at);
  const runs: Run[] = [];
  for (let column = 0; column < terminal.cols; column++) {
    const cell = line?.getCell(column);
    const text = cell?.getChars() || ' ';
    if (!cell || cell.getWidth() === 0) continue;
    const look = { colour: colourOf(cell), isBold: cell.isBold() !== 0 };
    const last = runs.at(-1);
    if (last && last.colour === look.colour && last.isBold === look.isBold)
      runs[runs.length - 1] = { ...last, text: last.text + text };
    else runs.push({ column, text, ...look });
  }
  return runs
    .map((run, index) => (index === runs.length - 1 ? { ...run, text: run.text.trimEnd() } : run))
    .filter(({ text }) => text.trim() !== '');
}

const palette =
  '#484f58 #ff7b72 #3fb950 #d29922 #58a6ff #bc8cff #39c5cf #b1bac4 #6e7681 #ffa198 #56d364 #e3b341 #79c0ff #d2a8ff #56d4dd #ffffff'.split(
    ' ',
  );

function colourOf(cell: IBufferCell): string {
  const colour = cell.getFgColor();
  if (cell.isFgRGB()) return `#${colour.toString(16).padStart(6, '0')}`;
  if (cell.isFgPalette() && colour < 16) return palette[colour] ?? '#c9d1d9';
  if (cell.isFgPalette() && colour < 232) {
    const levels = [0, 95, 135, 175, 215, 255];
    const at = colour - 16;
    const parts = [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((each) => levels[each] ?? 0);
    return `#${parts.map((each) => each.toString(16).padStart(2, '0')).join('')}`;
  }
  if (cell.isFgPalette()) return `#${(8 + (colour - 232) * 10).toString(16).padStart(2, '0').repeat(3)}`;
  return cell.isDim() ? '#8b949e' : '#c9d1d9';
}
