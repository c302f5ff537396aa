import { logLevel, logLevels } from '../log/log-levels.js';
import {
  entryOf,
  lastPort,
  longestSeconds,
  splitFlag,
  UsageError,
  unknown,
  wholeNumber,
} from './arguments.js';
import { readPeerFlag } from './peer-flags.js';
import { type Protocol, readProtocol } from './protocol.js';

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
  /** Started with `--server`, as some clients do. */
  readonly isServerFlag?: boolean;
  /** The protocol version of clients, where the command line gives one. */
  readonly protocol?: Protocol;
  /** Started as only clients of protocol 2 do: all others say that nothing is to be updated. */
  readonly showsProtocol2?: boolean;
  /** Sessions read no instructions from files unless they ask for them. */
  readonly skipsInstructions?: boolean;
  /** Hooks of files run in every session. */
  readonly fileHooks?: boolean;
  /** Where sessions are kept, in the word that was given. */
  readonly store?: string;
  readonly warnings: readonly string[];
}

/** Reads the command line of a client; flags come in any order. Throws UsageError, UnknownOption for what is no flag. */
export function readHeadless(argv: readonly string[]): HeadlessArguments {
  const draft: HeadlessDraft = { isStdio: false, mayLogIn: true, sessionIdleSeconds: 0 };
  const warnings: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const [flag = '', inline] = splitFlag(argv[i] ?? '');
    const take = entryOf(valued, flag);
    const set = entryOf(plain, flag);
    if (take) {
      const value = inline ?? argv[++i];
      if (value === undefined || (inline === undefined && isFlag(value)))
        throw new UsageError(`${flag} needs a value`);
      take(draft, value, flag);
    } else if (set) {
      if (inline !== undefined) throw new UsageError(`${flag} takes no value`);
      set(draft);
    } else {
      const peer = readPeerFlag(argv.slice(i), flag, inline);
      if (!peer) throw unknown(argv[i] ?? '');
      warnings.push(...peer.warnings);
      i += peer.length - 1;
    }
  }
  const { isStdio, port, ...rest } = draft;
  const showsProtocol2 = !argv.includes('--no-auto-update');
  warnings.push(...levelWarning(rest.logLevel));
  return { ...rest, warnings, showsProtocol2, ...(!isStdio && { port: port ?? 0 }) };
}

function levelWarning(level: string | undefined): readonly string[] {
  if (level === undefined || level === 'default' || logLevel(level) !== undefined) return [];
  return [`Ignored --log-level ${level}; it may be ${logLevels.join(', ')}`];
}

function isFlag(word: string): boolean {
  return Object.hasOwn(valued, word) || Object.hasOwn(plain, word);
}

interface HeadlessDraft {
  isStdio: boolean;
  port?: number;
  logLevel?: string;
  authTokenEnv?: string;
  mayLogIn: boolean;
  sessionIdleSeconds: number;
  executor?: string;
  isServerFlag?: boolean;
  protocol?: Protocol;
  skipsInstructions?: boolean;
  fileHooks?: boolean;
  store?: string;
}

/** The flags that have an effect, for users to read. */
export const headlessFlags: readonly (readonly [string, string])[] = [
  ['--headless, --server', 'serve clients only'],
  ['--stdio', 'on stdin and stdout; default: on a port of 127.0.0.1'],
  ['--port N', 'the port; default: any free one'],
  ['--log-level LEVEL', `what goes to stderr and GROUNDCREW_LOG: ${logLevels.join(', ')}`],
  ['--auth-token-env NAME', 'the variable with the GitHub token'],
  ['--file-hooks', 'run the hooks of hooks.json files in every session'],
  ['--no-custom-instructions', 'read no instructions from files'],
  ['--no-auto-login', 'do not use GH_TOKEN and GITHUB_TOKEN'],
  ['--protocol N', 'the protocol of the clients: 1, 2 or 3; default: found out for each client'],
  ['--sandbox WHERE', 'where commands run: host, bwrap, seatbelt, auto or off'],
  ['--session-idle-timeout S', 'unload sessions that are idle for so many seconds'],
  ['--store URL', 'where sessions are kept: postgres://…, or sqlite for the file of the home'],
];

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
  '--protocol': (draft, value, flag) => {
    draft.protocol = readProtocol(value, flag);
  },
  '--sandbox': (draft, value) => {
    draft.executor = value;
  },
  '--session-idle-timeout': (draft, value, flag) => {
    draft.sessionIdleSeconds = wholeNumber(value, flag, longestSeconds);
  },
  '--store': (draft, value) => {
    draft.store = value;
  },
};

const plain: Readonly<Record<string, (draft: HeadlessDraft) => void>> = {
  '--headless': () => undefined,
  '--server': (draft) => {
    draft.isServerFlag = true;
  },
  '--stdio': (draft) => {
    draft.isStdio = true;
  },
  '--file-hooks': (draft) => {
    draft.fileHooks = true;
  },
  '--no-custom-instructions': (draft) => {
    draft.skipsInstructions = true;
  },
  '--no-auto-login': (draft) => {
    draft.mayLogIn = false;
  },
};
