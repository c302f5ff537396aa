import { type Draft, replaced } from './editor.js';

/** What could be meant by the word at the cursor. */
export interface Completion {
  /** Where in the text the word begins. */
  readonly from: number;
  readonly choices: readonly Choice[];
  readonly chosen: number;
}

export interface Choice {
  /** What is put in the place of the word. */
  readonly text: string;
  readonly help?: string;
}

/** Where choices come from. */
export interface Choices {
  /** Commands whose names begin so. */
  commands(wanted: string): readonly Choice[];
  files(wanted: string): readonly string[];
}

/** The choices for the word at the cursor: a command at the start of the text, a file after `@`. */
export function complete({ text, cursor }: Draft, choices: Choices): Completion | undefined {
  const before = text.slice(0, cursor);
  const [, command] = /^(\/\S*)$/.exec(before) ?? [];
  if (command !== undefined) return offered(0, choices.commands(command), command);
  const [, name] = /(?:^|\s)@("(?:\\"|[^"])*|[^\s@]*)$/.exec(before) ?? [];
  if (name === undefined) return undefined;
  const files = choices.files(name.replace(/^"/, '').replaceAll('\\"', '"'));
  return offered(
    cursor - name.length - 1,
    files.map((path) => ({ text: /[\s"]/.test(path) ? `@"${path.replaceAll('"', '\\"')}"` : `@${path}` })),
    `@${name}`,
  );
}

/** The draft with the chosen one in it. */
export function accepted(draft: Draft, { from, choices, chosen }: Completion): Draft {
  const text = choices[chosen]?.text ?? '';
  // A directory is gone on with.
  const end = /\/"?$/.test(text) ? '' : ' ';
  return replaced(draft, from, draft.cursor, `${text}${end}`);
}

function offered(from: number, choices: readonly Choice[], typed: string): Completion | undefined {
  const isDone = choices.length === 1 && choices[0]?.text === typed;
  return choices.length === 0 || isDone ? undefined : { from, choices, chosen: 0 };
}
