import { entryOf, UsageError } from './arguments.js';
import { asksForHelp, type Command, show } from './command.js';
import type { Terminal } from './terminal.js';

/** Each command is loaded when it is wanted. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  chat: async () => (await import('./commands/chat.js')).chat,
  run: async () => (await import('./commands/run.js')).run,
  serve: async () => (await import('./commands/serve.js')).serve,
  sessions: async () => (await import('./commands/sessions.js')).sessions,
  models: async () => (await import('./commands/models.js')).models,
  permissions: async () => (await import('./commands/permissions.js')).permissions,
  replay: async () => (await import('./commands/replay.js')).replay,
  doctor: async () => (await import('./commands/doctor.js')).doctor,
  backup: async () => (await import('./commands/backup.js')).backup,
  help: async () => (await import('./commands/help.js')).help(commands),
};

/** Does what the command line says; resolves with the exit code. Throws UsageError. */
export async function runCommandLine(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [first = ''] = argv;
  if (first === '--version' || first === '-v') return show(terminal.version, terminal);
  const named = entryOf(commands, first);
  if (named) return (await named()).start(argv.slice(1), terminal);
  if (first !== '' && !first.startsWith('-')) throw unknownCommand(first);
  if (asksForHelp(argv)) return start('help', [], terminal);
  return start(argv.some(isPrompt) ? 'run' : 'chat', argv, terminal);
}

async function start(name: 'help' | 'run' | 'chat', argv: readonly string[], terminal: Terminal) {
  const command = await entryOf(commands, name)?.();
  if (!command) throw unknownCommand(name);
  return command.start(argv, terminal);
}

function isPrompt(argument: string): boolean {
  return argument === '-p' || argument === '--prompt' || argument.startsWith('--prompt=');
}

function unknownCommand(word: string): UsageError {
  const hint = /\s/.test(word)
    ? 'To ask something: groundcrew -p "…"'
    : 'Run groundcrew help to see what there is.';
  return new UsageError(`Unknown command ${word}. ${hint}`);
}
