import { cleanLines } from '../text/clean.js';
import { graphemesOf } from '../text/width.js';
import type { Key } from './keys.js';

/** A text that is being written, and where the next character goes. */
export interface Draft {
  readonly text: string;
  readonly cursor: number;
  /** Pastes that are kept as one block each; a character stands for each in the text. */
  readonly blocks: readonly string[];
  /** What was cut last, to be put back. */
  readonly cutText: string;
}

export const emptyDraft: Draft = { text: '', cursor: 0, blocks: [], cutText: '' };

/** A paste up to here is text like any other. */
const mostPastedLines = 8;
const mostPastedLength = 2_000;

/** The draft after a key; undefined when the key is none of an editor's. */
export function edit(draft: Draft, key: Key): Draft | undefined {
  if (key.type === 'text') return insert(draft, key.text);
  if (key.type === 'paste') return paste(draft, key.text);
  const { name, ctrl, alt, shift } = key;
  if (name === 'enter') return alt || shift || ctrl ? insert(draft, '\n') : continued(draft);
  if (ctrl && name === 'j') return insert(draft, '\n');
  if (ctrl) return (byControl[name] ?? plain[name])?.(draft);
  return (alt ? byAlt[name] : plain[name])?.(draft);
}

/** A draft of this text, to be gone on with at its end. */
export function draftOf(text: string): Draft {
  const safe = cleanLines(text).join('\n');
  return safe.split('\n').length > mostPastedLines || safe.length > mostPastedLength
    ? paste(emptyDraft, safe)
    : { ...emptyDraft, text: safe, cursor: safe.length };
}

/** All of it, with what was pasted. */
export function wholeText({ text, blocks }: Draft): string {
  return text.replace(marks, (mark) => blocks[indexOf(mark)] ?? '');
}

/** What stands for a paste on the screen. */
export function blockLabel(mark: string, { blocks }: Draft): string {
  const block = blocks[indexOf(mark)] ?? '';
  const lines = block.split('\n').length;
  const size =
    lines > 1 ? `${lines.toLocaleString('en')} lines` : `${block.length.toLocaleString('en')} characters`;
  return `[pasted text ${indexOf(mark) + 1}: ${size}]`;
}

/** Whether a character of the text stands for a paste. */
export function isBlock(character: string): boolean {
  return character >= firstMark && character <= lastMark;
}

/** Puts a text where the cursor is. */
function insert(draft: Draft, given: string): Draft {
  const text = given.replace(marks, '');
  return {
    ...draft,
    text: draft.text.slice(0, draft.cursor) + text + draft.text.slice(draft.cursor),
    cursor: draft.cursor + text.length,
  };
}

/** Puts another text in the place of a part. */
export function replaced(draft: Draft, from: number, to: number, text: string): Draft {
  return insert({ ...draft, text: draft.text.slice(0, from) + draft.text.slice(to), cursor: from }, text);
}

/** Inserts pasted text; characters in it that are keys when typed have no effect as keys. */
function paste(draft: Draft, given: string): Draft {
  const text = cleanLines(given).join('\n');
  const isShort = text.length <= mostPastedLength && text.split('\n').length <= mostPastedLines;
  const mark = String.fromCharCode(firstMark.charCodeAt(0) + draft.blocks.length);
  if (isShort || mark > lastMark) return insert(draft, text);
  return {
    ...draft,
    text: draft.text.slice(0, draft.cursor) + mark + draft.text.slice(draft.cursor),
    cursor: draft.cursor + 1,
    blocks: [...draft.blocks, text],
  };
}

/** Code points that no text has. */
const firstMark = '\uFDD0';
const lastMark = '\uFDEF';
const marks = /[\uFDD0-\uFDEF]/g;

function indexOf(mark: string): number {
  return mark.charCodeAt(0) - firstMark.charCodeAt(0);
}

/** A line that ends in a backslash goes on. */
function continued(draft: Draft): Draft | undefined {
  const { text, cursor } = draft;
  return text[cursor - 1] === '\\' ? replaced(draft, cursor - 1, cursor, '\n') : undefined;
}

type Act = (draft: Draft) => Draft | undefined;

const plain: Readonly<Record<string, Act>> = {
  left: (draft) => ({ ...draft, cursor: before(draft) }),
  right: (draft) => ({ ...draft, cursor: after(draft) }),
  home: (draft) => ({ ...draft, cursor: lineStart(draft) }),
  end: (draft) => ({ ...draft, cursor: lineEnd(draft) }),
  backspace: (draft) => removed(draft, before(draft), draft.cursor),
  delete: (draft) => removed(draft, draft.cursor, after(draft)),
  up: (draft) => vertical(draft, -1),
  down: (draft) => vertical(draft, 1),
};

const byControl: Readonly<Record<string, Act>> = {
  a: (draft) => ({ ...draft, cursor: lineStart(draft) }),
  e: (draft) => ({ ...draft, cursor: lineEnd(draft) }),
  b: (draft) => ({ ...draft, cursor: before(draft) }),
  f: (draft) => ({ ...draft, cursor: after(draft) }),
  h: (draft) => removed(draft, before(draft), draft.cursor),
  u: (draft) => taken(draft, lineStart(draft), draft.cursor),
  k: (draft) => taken(draft, draft.cursor, lineEnd(draft)),
  w: (draft) => taken(draft, wordStart(draft), draft.cursor),
  y: (draft) => insert(draft, draft.cutText),
  left: (draft) => ({ ...draft, cursor: wordStart(draft) }),
  right: (draft) => ({ ...draft, cursor: wordEnd(draft) }),
};

const byAlt: Readonly<Record<string, Act>> = {
  b: (draft) => ({ ...draft, cursor: wordStart(draft) }),
  f: (draft) => ({ ...draft, cursor: wordEnd(draft) }),
  d: (draft) => taken(draft, draft.cursor, wordEnd(draft)),
  backspace: (draft) => taken(draft, wordStart(draft), draft.cursor),
  left: (draft) => ({ ...draft, cursor: wordStart(draft) }),
  right: (draft) => ({ ...draft, cursor: wordEnd(draft) }),
};

function before({ text, cursor }: Draft): number {
  return cursor - (graphemesOf(text.slice(Math.max(0, cursor - 64), cursor)).at(-1)?.length ?? 0);
}

function after({ text, cursor }: Draft): number {
  return cursor + (graphemesOf(text.slice(cursor, cursor + 64))[0]?.length ?? 0);
}

function lineStart({ text, cursor }: Draft): number {
  return text.lastIndexOf('\n', cursor - 1) + 1;
}

function lineEnd({ text, cursor }: Draft): number {
  const end = text.indexOf('\n', cursor);
  return end < 0 ? text.length : end;
}

function wordStart({ text, cursor }: Draft): number {
  return text.slice(0, cursor).search(/\S+\s*$/) < 0 ? 0 : text.slice(0, cursor).search(/\S+\s*$/);
}

function wordEnd({ text, cursor }: Draft): number {
  const found = /^\s*\S+/.exec(text.slice(cursor));
  return cursor + (found?.[0].length ?? text.length - cursor);
}

function removed(draft: Draft, from: number, to: number): Draft {
  return { ...draft, text: draft.text.slice(0, from) + draft.text.slice(to), cursor: from };
}

function taken(draft: Draft, from: number, to: number): Draft {
  if (from === to) return draft;
  return { ...removed(draft, from, to), cutText: draft.text.slice(from, to).replace(marks, '') };
}

/** A line up or down; undefined at the edge, where history begins. */
function vertical(draft: Draft, by: 1 | -1): Draft | undefined {
  const start = lineStart(draft);
  const column = graphemesOf(draft.text.slice(start, draft.cursor)).length;
  const target = by < 0 ? start - 1 : lineEnd(draft) + 1;
  if (target < 0 || target > draft.text.length) return undefined;
  const from = by < 0 ? lineStart({ ...draft, cursor: target }) : target;
  const row = draft.text.slice(from, lineEnd({ ...draft, cursor: from }));
  return { ...draft, cursor: from + graphemesOf(row).slice(0, column).join('').length };
}
