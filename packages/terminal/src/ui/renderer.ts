import { type Instance, render } from 'ink';
import { createElement } from 'react';
import type { TerminalContext } from '../terminal-context.js';
import type { Line } from '../text/span.js';
import { type Paint, paintFor } from '../text/theme.js';
import { App } from './app.js';
import type { FrameLines } from './frame.js';
import { Screen } from './screen.js';

/** Draws: finished lines go above, once; the frame is what is below them. */
export class Renderer {
  readonly screen: Screen;
  private readonly paint: Paint;
  private instance: Instance | undefined;
  private readonly prints: number[] = [];

  constructor(
    private readonly context: Pick<TerminalContext, 'input' | 'output' | 'theme' | 'reflows' | 'redact'>,
  ) {
    this.screen = new Screen(context.output, { reflows: context.reflows });
    this.paint = paintFor(context.theme);
  }

  draw(finished: readonly Line[], frame: FrameLines): void {
    if (finished.length > 0) this.prints.push(this.screen.keep(this.textOf(finished)));
    const lines = frame.lines.map((each) => this.context.redact(this.paint(each)));
    const node = createElement(App, { prints: this.prints, frame: { lines, cursor: frame.cursor } });
    if (this.instance) {
      this.instance.rerender(node);
      return;
    }
    this.instance = render(node, {
      // Ink asks for a stream and uses these members of it.
      stdout: this.screen as unknown as NodeJS.WriteStream,
      stdin: this.context.input,
      exitOnCtrlC: false,
      patchConsole: false,
      // Frames are counted out before they come here.
      maxFps: 1000,
    });
  }

  /** Takes the live part away; what was printed stays. */
  close(last: readonly Line[]): void {
    this.screen.settle();
    this.draw([], { lines: [], cursor: undefined });
    this.instance?.unmount();
    this.screen.close();
    // Ink leaves the cursor below one empty row.
    this.context.output.write(`\u001b[1A${this.textOf(last)}`);
  }

  private textOf(lines: readonly Line[]): string {
    return lines.map((each) => `${this.context.redact(this.paint(each))}\n`).join('');
  }
}
