import type { OpenQuestion } from '../ask/question.js';
import type { Completion } from '../input/completion.js';
import type { Draft } from '../input/editor.js';
import { viewDraft } from '../input/editor-view.js';
import { cleanLine } from '../text/clean.js';
import { cut, ending, fold, type Line, line, span, wrap } from '../text/span.js';

/** What the live part shows. */
export interface FrameParts {
  /** What can still change: calls that run, the end of an answer. */
  readonly live: readonly Line[];
  readonly wait: Line;
  readonly todos: readonly Line[];
  readonly queue: readonly Line[];
  readonly question: OpenQuestion | undefined;
  readonly otherQuestions: number;
  readonly draft: Draft;
  readonly placeholder: string;
  readonly completion: Completion | undefined;
  readonly status: Line;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The live part as lines, and where the cursor is. */
export interface FrameLines {
  readonly lines: readonly Line[];
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
}

const mostChoices = 6;
/** What is live stays small, so that a window that gets smaller can still show all of it. */
const mostLive = 16;
const mostAsked = 30;
/** Of one live line no more than this can be in sight. */
const mostLiveText = 10_000;

/** Lays the live part out: at most `rows - 2` lines, none wider than the screen. */
export function frameOf(parts: FrameParts, { columns, rows }: Size): FrameLines {
  const most = Math.max(1, rows - 2);
  const width = Math.max(2, columns - 1);
  const size = { columns: width, rows: Math.max(1, most - 1) };
  const lower = parts.question
    ? questionPart(parts.question, parts.otherQuestions, size)
    : inputPart(parts, size);
  const room = Math.min(mostLive, most - lower.lines.length - 1);
  const upper = room > 0 ? [[], ...upperPart(parts, width, room - 1)] : [];
  // The cursor is in the last lines: a window that gets narrower wraps what is above it, and terminals differ in what they do
  // with the rest.
  // Where there is room for one line only, it is the one that is written on.
  const head = most > lower.lines.length ? [...upper, parts.status] : [];
  const lines = [...head, ...lower.lines].map((each) => cut(each, width));
  const cursor = lower.cursor && { ...lower.cursor, row: lower.cursor.row + head.length };
  return { lines: lines.slice(0, most), cursor };
}

/** The last lines that fit; what belongs to the whole session stays, and what is live gives way. */
function upperPart(parts: FrameParts, width: number, room: number): readonly Line[] {
  const fixed = [...parts.todos, ...parts.queue, ...(parts.wait.length > 0 ? [parts.wait] : [])];
  const live = parts.live.flatMap((each) => fold(ending(each, mostLiveText), width));
  const kept = fixed.slice(0, Math.max(0, room - Math.min(live.length, 3)));
  const left = room - kept.length - 1;
  const shown = left > 0 ? live.slice(-left) : [];
  const all = [...shown, ...kept];
  return all.length > 0 && all.length < room ? [...all, []] : all.slice(0, Math.max(0, room));
}

function inputPart({ draft, placeholder, completion }: FrameParts, { columns, rows }: Size): FrameLines {
  const choices = completion ? choiceLines(completion) : [];
  const room = Math.max(1, Math.min(10, rows - choices.length - 1));
  const view = viewDraft(draft, { columns, rows: room });
  const lines =
    draft.text === '' && placeholder !== '' ? [[span('❯ ', 'user'), span(placeholder, 'dim')]] : view.lines;
  return { lines: [...lines, ...choices].slice(0, rows), cursor: view.cursor };
}

function choiceLines({ choices, chosen }: Completion): readonly Line[] {
  const first = Math.max(0, Math.min(chosen - Math.floor(mostChoices / 2), choices.length - mostChoices));
  return choices.slice(first, first + mostChoices).map(({ text, help }, index) => {
    const isChosen = first + index === chosen;
    const looks = isChosen ? (['accent', 'bold'] as const) : (['dim'] as const);
    return [
      span(isChosen ? '  ▸ ' : '    ', 'accent'),
      span(cleanLine(text), ...looks),
      ...(help === undefined ? [] : [span(`  ${cleanLine(help)}`, 'dim')]),
    ];
  });
}

/** Whether a question's body fits above its options; if not, it is printed first. */
export function fits({ question }: OpenQuestion, { columns, rows }: Size): boolean {
  const body = question.body.flatMap((each) => fold(each, columns - 1)).length;
  return body + question.options.length + 6 <= Math.min(rows - 2, mostAsked);
}

function questionPart(open: OpenQuestion, others: number, { columns, rows }: Size): FrameLines {
  const { question, chosen, draft, problem, isPrinted } = open;
  const more =
    others > 0 ? [line(`and ${others} more ${others === 1 ? 'question' : 'questions'}`, 'dim')] : [];
  const wrong = problem === undefined ? [] : [line(cleanLine(problem), 'bad')];
  const body = isPrinted ? [] : question.body.flatMap((each) => fold(each, columns));
  const asksFor = draft && question.options[chosen]?.asksFor;
  if (draft && asksFor !== undefined) {
    const head = [...body, line(cleanLine(asksFor), 'accent')].slice(0, Math.max(1, rows - 3));
    const view = viewDraft(draft, { columns, rows: 3 });
    return {
      lines: [...head, ...view.lines, ...wrong, ...more].slice(0, rows),
      cursor: { ...view.cursor, row: view.cursor.row + head.length },
    };
  }
  const room = Math.max(1, rows - body.length - 1);
  const first = Math.max(0, Math.min(chosen - Math.floor(room / 2), question.options.length - room));
  const options = question.options.slice(first, first + room).map((option, index): Line => {
    const isChosen = first + index === chosen;
    const key = option.key ?? (first + index < 9 ? String(first + index + 1) : ' ');
    return [
      span(isChosen ? '❯ ' : '  ', 'accent'),
      span(`${key}  `, 'dim'),
      span(option.label, ...(isChosen ? (['bold'] as const) : [])),
    ];
  });
  // Who chooses reads all of it, where there is room.
  const whole = options.flatMap((option) => wrap(option, columns, [span('     ')]));
  const shown = whole.length <= room ? whole : options;
  return { lines: [...body, ...shown, ...wrong, ...more].slice(0, rows), cursor: undefined };
}
