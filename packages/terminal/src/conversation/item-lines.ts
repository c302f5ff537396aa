import type { TranscriptMessage, TranscriptNotice, TranscriptPrompt } from '@groundcrew/sdk';
import { cleanLine, cleanLines } from '../text/clean.js';
import { type Line, line, type Style, span, wrap } from '../text/span.js';
import type { Shown } from './tool-lines.js';

/** A longer prompt is a paste, and shown by its beginning. */
const mostPrompt = 40;

/** A prompt, as it was typed. */
export function promptLines(prompt: TranscriptPrompt, columns: number): Shown {
  const lines = cleanLines(prompt.text.replace(/\s+$/, ''));
  const isLong = lines.length > mostPrompt;
  const shown = isLong ? lines.slice(0, mostPrompt / 2) : lines;
  const source =
    prompt.source === undefined || prompt.source === 'user' ? '' : `(${cleanLine(prompt.source)}) `;
  const body = shown.flatMap((text, index): readonly Line[] => {
    const mark = index === 0 ? [span('❯ ', 'user'), span(source, 'dim')] : [span('  ')];
    return wrap([...mark, span(text, 'bold')], columns, [span('  ')]);
  });
  const more = isLong
    ? [line(`  … ${lines.length - shown.length} more lines (Ctrl-O shows them)`, 'dim')]
    : [];
  const attached = prompt.attachments.map((each) => line(`  + ${attachmentName(each)}`, 'dim'));
  return {
    lines: [...body, ...more, ...attached],
    ...(isLong && { folded: { title: 'the prompt', lines: lines.map((text) => line(text)) } }),
  };
}

/** What the model thought before it answered, folded to a line. */
export function reasoningLines(reasoning: string): Shown {
  const lines = cleanLines(reasoning.trim());
  const [first = ''] = lines;
  if (first === '' && lines.length === 1) return { lines: [] };
  const count = lines.length === 1 ? '' : ` (${lines.length} lines, Ctrl-O shows them)`;
  const short = first.length > 80 ? `${first.slice(0, 79)}…` : first;
  const isWhole = lines.length === 1 && short === first;
  return {
    lines: [[span('✻ ', 'dim'), span(short, 'dim', 'italic'), span(count, 'dim')]],
    ...(!isWhole && {
      folded: { title: 'what the model thought', lines: lines.map((text) => line(text, 'dim')) },
    }),
  };
}

/** A line beside the conversation. */
export function noticeLines(notice: TranscriptNotice, columns: number): readonly Line[] {
  const { sign, style } = levels[notice.level];
  const text = notice.level === 'info' ? `${kindOf(notice)}${notice.text}` : notice.text;
  return cleanLines(text).flatMap((each, index) =>
    wrap([span(index === 0 ? sign : '  ', style), span(each, style)], columns, [span('  ')]),
  );
}

/** Whether a message says something. */
export function hasText(message: TranscriptMessage): boolean {
  return message.text.trim() !== '';
}

const levels: Readonly<Record<TranscriptNotice['level'], { readonly sign: string; readonly style: Style }>> =
  {
    info: { sign: '· ', style: 'dim' },
    warning: { sign: '! ', style: 'warning' },
    error: { sign: '✖ ', style: 'bad' },
  };

function kindOf({ kind }: TranscriptNotice): string {
  return kind === 'notification' || kind === 'compaction' ? '' : `${kind.replaceAll('_', ' ')}: `;
}

function attachmentName(given: TranscriptPrompt['attachments'][number]): string {
  const { displayName, path, type } = given as {
    readonly type: string;
    readonly displayName?: string;
    readonly path?: string;
  };
  return cleanLine(displayName ?? path ?? type);
}
