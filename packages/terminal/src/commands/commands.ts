import type { Choice } from '../input/completion.js';
import { line, span } from '../text/span.js';
import type { Command } from './command.js';
import { historyCommands } from './history-commands.js';
import { sessionCommands } from './session-commands.js';
import { settingCommands } from './setting-commands.js';

const keys: readonly (readonly [string, string])[] = [
  ['Enter', 'sends; while a turn runs, the prompt waits for its turn'],
  ['Alt-Enter, Ctrl-J', 'a new line; so does a backslash before Enter'],
  ['Esc', 'while a turn runs, gives it what is written; without words, takes the last waiting prompt back'],
  ['Ctrl-C', 'stops the turn, or empties the line; twice leaves, as Ctrl-D in an empty line does'],
  ['Ctrl-Z', 'stops the program until the shell goes on with it'],
  ['Ctrl-O', 'shows what was folded last'],
  ['Up, Down', 'earlier prompts'],
  ['Tab', 'completes @files and /commands'],
];

/** What one can say to the program itself. */
export const commands: Readonly<Record<string, Command>> = {
  '/help': {
    usage: '/help',
    help: 'lists the commands and the keys',
    run: async ({ print }) => {
      const rows = [...Object.values(commands).map(({ usage, help }) => [usage, help] as const), ...keys];
      const width = Math.max(...rows.map(([left]) => left.length)) + 2;
      print(...rows.map(([left, right]) => [span(left.padEnd(width), 'accent'), span(right)]));
    },
  },
  ...settingCommands,
  ...sessionCommands,
  ...historyCommands,
  '/todos': {
    usage: '/todos',
    help: "the agent's todo list",
    run: async ({ conversation, print }) => {
      if (conversation.todos.length === 0) print('There is no todo');
      for (const { title, status } of conversation.todos) print(line(`${todoSign(status)} ${title}`));
    },
  },
  '/quit': { usage: '/quit', help: 'ends the program', run: async ({ leave }) => leave() },
};

/** What stands before a todo. */
export function todoSign(status: string): string {
  if (status === 'done' || status === 'completed') return '☑';
  return status === 'in_progress' ? '◐' : '☐';
}

/** Commands whose names begin so; those of skills too. */
export function commandChoices(
  wanted: string,
  skills: readonly { readonly name: string; readonly description: string }[],
): readonly Choice[] {
  const own = Object.entries(commands).map(([text, { help }]) => ({ text, help }));
  const others = skills.map(({ name, description }) => ({ text: `/${name}`, help: description }));
  return [...own, ...others].filter(({ text }) => text.startsWith(wanted.toLowerCase()));
}
