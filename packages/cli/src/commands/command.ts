import { unknown } from '../flags/arguments.js';
import { type Flags, flagLines, type Given, readFlags } from '../flags/flags.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';

/** A command of the program. */
export interface Command {
  /** Each way to call it, a line. */
  readonly usage: readonly string[];
  /** What it does, in one line. */
  readonly summary: string;
  /** The whole help text. */
  help(): string;
  /** Resolves with the exit code. Throws UsageError. */
  start(argv: readonly string[], terminal: Terminal): Promise<number>;
}

/** What a command is made of. */
export interface CommandDefinition<F extends Flags> {
  readonly usage: readonly string[];
  readonly summary: string;
  readonly flags: F;
  /** Shown below the flags. */
  readonly notes?: string;
  /** Flags of the Copilot CLI that it does not have itself are accepted, with a warning. */
  readonly acceptsPeerFlags?: boolean;
  /** How many words it takes besides its flags; none unless said. */
  readonly mostWords?: number;
  run(given: Given<F>, terminal: Terminal): Promise<number>;
}

/** A command that reads its own flags and has a help text. */
export function defineCommand<F extends Flags>(definition: CommandDefinition<F>): Command {
  const { usage, summary, flags, mostWords = 0, acceptsPeerFlags = false } = definition;
  const help = () => helpText(definition);
  return {
    usage,
    summary,
    help,
    start: async (argv, terminal) => {
      if (asksForHelp(argv)) return show(help(), terminal);
      const given = readFlags(flags, argv, { acceptsPeerFlags });
      const excess = given.words[mostWords];
      if (excess !== undefined) throw unknown(excess);
      for (const warning of given.warnings) terminal.errorOutput.write(`${warning}\n`);
      return definition.run(given, terminal);
    },
  };
}

/** Prints a text that was asked for. */
export function show(text: string, terminal: Pick<Terminal, 'output'>): number {
  terminal.output.write(text.endsWith('\n') ? text : `${text}\n`);
  return exitCodes.done;
}

/** Whether help is wanted instead of work. */
export function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const flags = end < 0 ? argv : argv.slice(0, end);
  return flags.includes('--help') || flags.includes('-h');
}

function helpText<F extends Flags>({ usage, summary, flags, notes }: CommandDefinition<F>): string {
  const lines = flagLines(flags);
  const parts = [
    summary,
    usage.map((each) => `  ${each}`).join('\n'),
    ...(lines.length > 0 ? [lines.join('\n')] : []),
    ...(notes === undefined ? [] : [notes]),
  ];
  return `${parts.join('\n\n')}\n`;
}
