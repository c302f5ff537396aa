import { entryOf, UsageError } from '../flags/arguments.js';
import type { Terminal } from '../terminal/terminal.js';
import { asksForHelp, type Command, show } from './command.js';

/** Each command is loaded when it is wanted. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  chat: async () => (await import('./chat.js')).chat,
  run: async () => (await import('./run.js')).run,
  serve: async () => (await import('./serve.js')).serve,
  top: async () => (await import('./top.js')).top,
  relay: async () => (await import('./relay.js')).relay,
  token: async () => (await import('./token.js')).token,
  acp: async () => (await import('./acp.js')).acp,
  inspect: async () => (await import('./inspect.js')).inspect,
  sessions: async () => (await import('./sessions.js')).sessions,
  prune: async () => (await import('./session-changes.js')).prune,
  mcp: async () => (await import('./mcp.js')).mcp,
  models: async () => (await import('./models.js')).models,
  permissions: async () => (await import('./permissions.js')).permissions,
  agents: async () => (await import('./agents.js')).agents,
  skills: async () => (await import('./skills.js')).skills,
  replay: async () => (await import('./replay.js')).replay,
  doctor: async () => (await import('./doctor.js')).doctor,
  backup: async () => (await import('./backup.js')).backup,
  migrate: async () => (await import('./migrate.js')).migrate,
  init: async () => (await import('./init.js')).init,
  help: async () => (await import('./help.js')).help(commands),
};

/** Does what the command line says; resolves with the exit code. `used` takes the command's name. Throws UsageError. */
export async function runCommandLine(
  argv: readonly string[],
  terminal: Terminal,
  used = new Set<string>(),
): Promise<number> {
  const [first = ''] = argv;
  if (first === '--version' || first === '-v') return show(terminal.version, terminal);
  const { name, rest } = choose(argv);
  const command = entryOf(commands, name);
  if (!command) throw unknownCommand(name);
  used.add(name);
  return (await command()).start(rest, terminal);
}

function choose(argv: readonly string[]): { readonly name: string; readonly rest: readonly string[] } {
  const [first = '', ...rest] = argv;
  if (first === 'help') return helpWith(rest);
  if (first !== '' && !first.startsWith('-')) return { name: first, rest };
  if (argv.includes('--acp')) return { name: 'acp', rest: argv.filter((each) => each !== '--acp') };
  if (argv.some(isPrompt)) return { name: 'run', rest: argv };
  return asksForHelp(argv) ? { name: 'help', rest: [] } : { name: 'chat', rest: argv };
}

/** `help -p` asks about what `-p` does, and `help sessions show` is `sessions show --help`. */
function helpWith(asked: readonly string[]): ReturnType<typeof choose> {
  if (asked.some(isPrompt)) return { name: 'help', rest: ['run'] };
  if (asked.includes('--acp')) return { name: 'help', rest: ['acp'] };
  if (asked.length === 1 && isServing(asked[0])) return { name: 'help', rest: [] };
  const [name = '', ...rest] = asked;
  const isOfGroup = rest.length > 0 && !asked.some((each) => each.startsWith('-'));
  return isOfGroup ? { name, rest: [...rest, '--help'] } : { name: 'help', rest: asked };
}

/** Its flags are in the overview. */
function isServing(argument = ''): boolean {
  return argument === '--headless' || argument === '--server';
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
