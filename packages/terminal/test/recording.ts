import type { Run, TestScreen } from './screen.js';

interface Frame {
  readonly at: number;
  readonly rows: readonly (readonly Run[])[];
}

const cell = { width: 8.4, height: 18 };
const margin = 12;
const background = '#0d1117';

/** What a screen showed, moment by moment. */
export class Recording {
  private readonly frames: Frame[] = [];
  private readonly began = Date.now();

  constructor(
    private readonly screen: TestScreen,
    /** The directory that is shown as `~`. */
    private readonly directory: string,
  ) {}

  /** Takes down what the screen shows now, unless it is what it showed before. */
  take(): void {
    const shown = (text: string) => text.replaceAll(this.directory, '~');
    const rows = this.screen.runs.map((line) => line.map((run) => ({ ...run, text: shown(run.text) })));
    const last = this.frames.at(-1);
    if (last && JSON.stringify(last.rows) === JSON.stringify(rows)) return;
    this.frames.push({ at: Date.now() - this.began, rows });
  }

  /** Takes down all that changes until `work` is done. */
  async during(work: () => Promise<void>): Promise<void> {
    const timer = setInterval(() => this.take(), 60);
    try {
      await work();
    } finally {
      clearInterval(timer);
      this.take();
    }
  }

  /** A picture that moves: each row is drawn once, and shown while it was there. Pauses are at most so many milliseconds long. */
  toSvg({ columns, rows, longestPause }: { columns: number; rows: number; longestPause: number }): string {
    const known = new Map<string, string>();
    let now = 0;
    const shown = this.frames.map(({ at, rows: lines }, index) => {
      const next = this.frames[index + 1]?.at;
      const long = next === undefined ? 3 * longestPause : Math.min(longestPause, next - at);
      const start = now;
      now += long;
      return { start, end: now, uses: lines.flatMap((line, row) => useOf(line, row, known)) };
    });
    const percent = (time: number) => ((100 * time) / now).toFixed(3);
    const styles = shown.map(({ start, end }, at) => {
      const before = start === 0 ? '' : '0%{visibility:hidden}';
      const after = end >= now ? '' : `${percent(end)}%{visibility:hidden}`;
      return `@keyframes k${at}{${before}${percent(start)}%{visibility:visible}${after}}#f${at}{animation:k${at} ${now}ms steps(1,end) infinite}`;
    });
    const width = Math.ceil(columns * cell.width + 2 * margin);
    const height = rows * cell.height + 2 * margin;
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
      '<title>A recording of the terminal</title>',
      `<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}.f{visibility:hidden}${styles.join('')}</style>`,
      `<rect width="100%" height="100%" rx="6" fill="${background}"/>`,
      `<defs>${[...known.values()].join('')}</defs>`,
      ...shown.map(({ uses }, at) => `<g class="f" id="f${at}">${uses.join('')}</g>`),
      '</svg>',
      '',
    ].join('\n');
  }
}

function useOf(line: readonly Run[], row: number, known: Map<string, string>): readonly string[] {
  if (line.length === 0) return [];
  const key = JSON.stringify(line);
  const place = [...known.keys()].indexOf(key);
  const id = `r${place < 0 ? known.size : place}`;
  if (place < 0) known.set(key, `<g id="${id}">${line.map(textOf).join('')}</g>`);
  return [`<use href="#${id}" x="${margin}" y="${margin + (row + 0.75) * cell.height}"/>`];
}

function textOf({ column, text, colour, isBold }: Run): string {
  const weight = isBold ? ' font-weight="bold"' : '';
  const length = (text.length * cell.width).toFixed(1);
  const words = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${(column * cell.width).toFixed(1)}" fill="${colour}"${weight} textLength="${length}" xml:space="preserve">${words}</text>`;
}
