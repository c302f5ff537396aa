import type { Asking } from '../ask/asking.js';
import { todoSign } from '../commands/commands.js';
import type { Conversation } from '../conversation/conversation.js';
import type { TerminalContext } from '../terminal-context.js';
import { cleanLine } from '../text/clean.js';
import { cut, type Line, line, span } from '../text/span.js';
import { type FrameLines, fits, frameOf, type Size } from './frame.js';
import type { InputLine } from './input-line.js';
import { Renderer } from './renderer.js';
import { type StatusFacts, statusLine, waitLine } from './status.js';
import { TerminalModes } from './terminal-modes.js';

/** What is looked at when a frame is drawn. */
export interface Viewed {
  readonly asking: Asking;
  conversation(): Conversation;
  input(): InputLine;
}

/** Between two frames; what happens meanwhile is in the next one. */
const frameMs = 33;
/** So long a frame may take before what is left to print waits for the next one. */
const printMs = 8;
const mostTodos = 5;
const mostQueued = 3;

/** Draws what there is to see, when something of it has changed, and not more often than eyes can follow. */
export class View {
  hint: string | undefined;
  model: string | undefined;
  connection: StatusFacts['connection'] = 'connected';
  private readonly renderer: Renderer;
  private readonly modes: TerminalModes;
  private readonly unprinted: Line[] = [];
  private timer: NodeJS.Timeout | undefined;
  private tick: NodeJS.Timeout | undefined;
  private drawnAt = 0;
  private isOpen = false;
  /** Nothing is drawn before the screen says that it can be. */
  private isHeld = false;

  constructor(
    private readonly context: TerminalContext,
    private readonly viewed: Viewed,
  ) {
    this.renderer = new Renderer(context);
    this.modes = new TerminalModes(context.input, context.output);
  }

  open(): void {
    this.modes.enter();
    this.isOpen = true;
    this.context.output.on('resize', this.onResize);
    process.on('SIGCONT', this.onContinue);
    this.flush();
  }

  /** Something has changed that is seen. */
  changed(): void {
    if (!this.isOpen || this.isHeld || this.timer) return;
    const wait = Math.max(0, this.drawnAt + frameMs - performance.now());
    this.timer = setTimeout(() => this.flush(), wait);
  }

  /** Prints lines above the live part. */
  print(lines: readonly Line[]): void {
    this.unprinted.push(...lines);
    this.changed();
  }

  /**
   * Ctrl-Z: the shell has the terminal until it gives it back. As with the key itself, all that was started together stops:
   * a shell that started the program by way of another one would wait for that. Where no shell could go on with it, the
   * system stops nothing, and the screen is there again at once.
   */
  suspend(): void {
    if (process.platform === 'win32') return;
    this.renderer.draw([], { lines: [], cursor: undefined });
    this.modes.leave();
    process.kill(0, 'SIGTSTP');
    this.modes.enter();
    this.changed();
  }

  /** Something else has stopped it, and the terminal is as the shell has left it. */
  private readonly onContinue = (): void => {
    this.modes.leave();
    this.modes.enter();
    this.changed();
  };

  close(last: readonly Line[]): void {
    if (!this.isOpen) {
      this.context.output.off('resize', this.onResize);
      return;
    }
    this.isOpen = false;
    clearTimeout(this.timer);
    clearTimeout(this.tick);
    this.context.output.off('resize', this.onResize);
    process.off('SIGCONT', this.onContinue);
    this.renderer.close([...this.finished({ isBounded: false }), ...last]);
    this.modes.leave();
  }

  private readonly onResize = (): void => this.changed();

  private get size(): Size {
    return { columns: this.renderer.screen.columns, rows: this.renderer.screen.height };
  }

  private flush(): void {
    this.timer = undefined;
    if (!this.renderer.screen.isReady()) {
      this.hold();
      return;
    }
    const lines = this.finished({ isBounded: true });
    this.renderer.draw(lines, this.frame());
    this.drawnAt = performance.now();
    const { printer, transcript } = this.viewed.conversation();
    if (printer.isBehind(transcript)) this.timer = setTimeout(() => this.flush(), 0);
  }

  /** One listener, however much happens meanwhile: of many, Node would warn on the terminal itself. */
  private hold(): void {
    if (this.isHeld) return;
    this.isHeld = true;
    this.renderer.screen.onceReady(() => {
      this.isHeld = false;
      this.changed();
    });
  }

  /** The lines that are to be printed next; what takes too long is left for the next frame. */
  private finished({ isBounded }: { readonly isBounded: boolean }): readonly Line[] {
    const until = performance.now() + printMs;
    const { printer, transcript } = this.viewed.conversation();
    const lines = this.unprinted.splice(0);
    for (const finished of printer.next(transcript)) {
      lines.push(...finished);
      if (isBounded && performance.now() > until) break;
    }
    const { asking } = this.viewed;
    if (asking.current && !asking.current.isPrinted && !fits(asking.current, this.size)) {
      lines.push([], ...asking.current.question.body);
      asking.printed();
    }
    return lines;
  }

  private frame(): FrameLines {
    const conversation = this.viewed.conversation();
    const { transcript } = conversation;
    const { asking } = this.viewed;
    const { draft, completion } = this.viewed.input();
    const now = Date.now();
    const { waits, seconds } = conversation.waits(now);
    this.tickWhile(waits.length > 0);
    const facts: StatusFacts = {
      model: transcript.model ?? this.model,
      mode: conversation.mode,
      agent: conversation.agent,
      connection: this.connection,
      earlier: conversation.earlier,
      hint: this.hint,
    };
    const { columns, rows } = this.size;
    return frameOf(
      {
        live: conversation.printer.live(transcript),
        wait:
          this.connection === 'connected' ? waitLine(waits, { seconds, retry: transcript.main.retry }) : [],
        todos: transcript.isIdle ? [] : todoLines(conversation),
        queue: queueLines(conversation, columns),
        question: asking.current,
        otherQuestions: asking.others,
        draft,
        placeholder: transcript.isIdle ? 'Ask, or / for commands' : 'Enter queues, Esc steers',
        completion,
        status: statusLine(transcript, facts, columns - 1),
      },
      { columns, rows },
    );
  }

  /** Seconds are shown only while something is waited for: an idle screen does nothing. */
  private tickWhile(isWaiting: boolean): void {
    clearTimeout(this.tick);
    if (isWaiting) this.tick = setTimeout(() => this.changed(), 1_000);
  }
}

function todoLines({ todos }: Conversation): readonly Line[] {
  const open = todos.filter(({ status }) => status !== 'done' && status !== 'completed');
  if (open.length === 0) return [];
  const done = todos.length - open.length;
  const running = open.filter(({ status }) => status === 'in_progress');
  const others = open.filter(({ status }) => status !== 'in_progress');
  const shown = [...running, ...others].slice(0, mostTodos);
  return [
    line(`${done} of ${todos.length} done`, 'dim'),
    ...shown.map(({ title, status }): Line => {
      const isRunning = status === 'in_progress';
      return [
        span(`  ${todoSign(status)} `, 'accent'),
        span(cleanLine(title), ...(isRunning ? (['bold'] as const) : (['dim'] as const))),
      ];
    }),
  ];
}

function queueLines({ queue }: Conversation, columns: number): readonly Line[] {
  const hidden = queue.length - mostQueued;
  return [
    ...queue.slice(0, mostQueued).map((text) => cut(line(`waits: ${cleanLine(text)}`, 'dim'), columns - 1)),
    ...(hidden > 0 ? [line(`and ${hidden} more`, 'dim')] : []),
  ];
}
