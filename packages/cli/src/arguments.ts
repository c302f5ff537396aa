import { logLevel, logLevels } from './log-levels.js';

/** A command line or configuration that makes no sense; the message says what to do instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** How clients of every language start the runtime. */
export interface HeadlessArguments {
  /** Absent: stdio. 0: any free port. */
  readonly port?: number;
  readonly logLevel?: string;
  readonly authTokenEnv?: string;
  readonly mayLogIn: boolean;
  readonly sessionIdleSeconds: number;
  /** Where commands run, in the word that was given. */
  readonly executor?: string;
  readonly warnings: readonly string[];
}

/**
 * Reads the command line of a client; flags come in any order. Throws UsageError.
 * Clients pass arguments of their users through: what is unknown is a warning here, never an error.
 */
export function readHeadless(argv: readonly string[]): HeadlessArguments {
  const draft: HeadlessDraft = { isStdio: false, mayLogIn: true, sessionIdleSeconds: 0 };
  const unknown: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const [flag = '', inline] = splitFlag(argv[i] ?? '');
    const take = entryOf(valued, flag);
    const set = entryOf(plain, flag);
    if (take) {
      const value = inline ?? argv[++i];
      if (value === undefined || (inline === undefined && isFlag(value)))
        throw new UsageError(`${flag} needs a value`);
      take(draft, value, flag);
    } else if (set && inline === undefined) set(draft);
    else unknown.push(argv[i] ?? '');
  }
  const { isStdio, port, ...rest } = draft;
  const warnings = [
    ...(unknown.length === 0 ? [] : [`Ignored unknown arguments: ${unknown.join(' ')}`]),
    ...troubleWithLevel(rest.logLevel),
  ];
  return { ...rest, warnings, ...(!isStdio && { port: port ?? 0 }) };
}

function troubleWithLevel(level: string | undefined): readonly string[] {
  if (level === undefined || logLevel(level) !== undefined) return [];
  return [`Ignored --log-level ${level}; it may be ${logLevels.join(', ')}`];
}

function isFlag(word: string): boolean {
  return Object.hasOwn(valued, word) || Object.hasOwn(plain, word);
}

/** The entry of this name; an argument may be any word, `constructor` too. */
export function entryOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** A flag, and the value that is joined to it by `=`. */
export function splitFlag(argument: string): [string, string?] {
  const at = argument.startsWith('--') ? argument.indexOf('=') : -1;
  return at < 0 ? [argument] : [argument.slice(0, at), argument.slice(at + 1)];
}

/** Reads a number of a flag or variable. Throws UsageError. */
export function wholeNumber(value: string, name: string, most: number): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number <= most) return number;
  throw new UsageError(`${name} needs a whole number from 0 to ${most}, not ${value}`);
}

/** The highest port there is. */
export const lastPort = 65_535;

/** The longest time that flags and settings may name, in seconds. */
export const longestSeconds = 10_000_000;

interface HeadlessDraft {
  isStdio: boolean;
  port?: number;
  logLevel?: string;
  authTokenEnv?: string;
  mayLogIn: boolean;
  sessionIdleSeconds: number;
  executor?: string;
}

/** Flags with a value, and what becomes of it. */
const valued: Readonly<Record<string, (draft: HeadlessDraft, value: string, flag: string) => void>> = {
  '--port': (draft, value, flag) => {
    draft.port = wholeNumber(value, flag, lastPort);
  },
  '--log-level': (draft, value) => {
    draft.logLevel = value;
  },
  '--auth-token-env': (draft, value) => {
    draft.authTokenEnv = value;
  },
  '--sandbox': (draft, value) => {
    draft.executor = value;
  },
  '--session-idle-timeout': (draft, value, flag) => {
    draft.sessionIdleSeconds = wholeNumber(value, flag, longestSeconds);
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
