/** A command line that makes no sense; the message says what to do instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** How clients of every language start the runtime. */
export interface HeadlessArguments {
  readonly type: 'headless';
  /** Absent: stdio. 0: any free port. */
  readonly port?: number;
  readonly logLevel: string;
  readonly authTokenEnv?: string;
  readonly mayLogIn: boolean;
  readonly sessionIdleSeconds: number;
  readonly warnings: readonly string[];
}

export type Invocation = HeadlessArguments | { readonly type: 'version' } | { readonly type: 'help' };

/** Reads the command line; flags come in any order. Throws UsageError. */
export function readArguments(argv: readonly string[]): Invocation {
  if (argv.includes('--headless') || argv.includes('--server')) return readHeadless(argv);
  const [first] = argv;
  if (first === '--version' || first === '-v') return { type: 'version' };
  if (first === undefined || first === '--help' || first === '-h' || first === 'help')
    return { type: 'help' };
  throw new UsageError(`Unknown argument ${first}. Run groundcrew --help to see what there is.`);
}

interface HeadlessDraft {
  isStdio: boolean;
  port?: number;
  logLevel: string;
  authTokenEnv?: string;
  mayLogIn: boolean;
  sessionIdleSeconds: number;
}

/** Flags with a value, and what becomes of it. */
const valued: Readonly<Record<string, (draft: HeadlessDraft, value: string, flag: string) => void>> = {
  '--port': (draft, value, flag) => {
    draft.port = wholeNumber(value, flag, 65_535);
  },
  '--log-level': (draft, value) => {
    draft.logLevel = value;
  },
  '--auth-token-env': (draft, value) => {
    draft.authTokenEnv = value;
  },
  '--session-idle-timeout': (draft, value, flag) => {
    draft.sessionIdleSeconds = wholeNumber(value, flag, 10_000_000);
  },
};

const plain: Readonly<Record<string, (draft: HeadlessDraft) => void>> = {
  '--headless': () => undefined,
  '--server': () => undefined,
  '--no-auto-update': () => undefined,
  '--remote': () => undefined,
  '--stdio': (draft) => {
    draft.isStdio = true;
  },
  '--no-auto-login': (draft) => {
    draft.mayLogIn = false;
  },
};

/** Clients pass arguments of their users through: what is unknown is a warning here, never an error. */
function readHeadless(argv: readonly string[]): HeadlessArguments {
  const draft: HeadlessDraft = { isStdio: false, logLevel: 'warning', mayLogIn: true, sessionIdleSeconds: 0 };
  const unknown: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const [flag = '', inline] = split(argv[i] ?? '');
    const take = entryOf(valued, flag);
    const set = entryOf(plain, flag);
    if (take) {
      const value = inline ?? argv[++i];
      if (value === undefined) throw new UsageError(`${flag} needs a value`);
      take(draft, value, flag);
    } else if (set && inline === undefined) set(draft);
    else unknown.push(argv[i] ?? '');
  }
  const { isStdio, port, ...rest } = draft;
  const warnings = unknown.length === 0 ? [] : [`Ignored unknown arguments: ${unknown.join(' ')}`];
  return { type: 'headless', ...rest, warnings, ...(!isStdio && { port: port ?? 0 }) };
}

/** An argument may be any word, `constructor` too. */
function entryOf<T>(table: Readonly<Record<string, T>>, flag: string): T | undefined {
  return Object.hasOwn(table, flag) ? table[flag] : undefined;
}

function split(argument: string): [string, string?] {
  const at = argument.startsWith('--') ? argument.indexOf('=') : -1;
  return at < 0 ? [argument] : [argument.slice(0, at), argument.slice(at + 1)];
}

function wholeNumber(value: string, flag: string, most: number): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number <= most) return number;
  throw new UsageError(`${flag} needs a whole number from 0 to ${most}, not ${value}`);
}
