import {
  BadModelSettings,
  type ChosenProvider,
  chooseProvider,
  type ProviderWay,
  providerWays,
} from '@groundcrew/model-access';
import type { Environment } from '@groundcrew/models';
import type { SandboxSettings } from '@groundcrew/runtime';
import { longestSeconds, trueOrFalse, UsageError, wholeNumber } from '../flags/arguments.js';
import { choiceFlag, type Flag, type FlagValues, numberFlag, switchFlag, textFlag } from '../flags/flags.js';
import { type LogLevel, logLevel, logLevels } from '../log/log-levels.js';
import { type Allowed, permissionKinds, readAllowed } from './allow-rules.js';
import { type ConfigFile, readConfigFile, secondsFrom } from './config-file.js';
import { configPath, homeDirectory } from './home.js';
import { sandboxFlags, sandboxFrom, sandboxOver } from './sandbox-choice.js';
import { storeFlag } from './store-choice.js';

/** What the program goes by: flags, then the environment, then the file of the home. */
export interface Config {
  readonly homeDirectory: string;
  readonly model?: string;
  /** A model service of the user's own, and who named it. */
  readonly provider?: ChosenProvider;
  /** Every place where a model service may be named. */
  readonly ways: readonly ProviderWay[];
  readonly streaming: boolean;
  /** Absent: each place has its own default. */
  readonly logLevel?: LogLevel;
  readonly sessionIdleSeconds: number;
  readonly allow: Allowed;
  /** Where commands run; absent: the session's mode says. */
  readonly sandbox?: SandboxSettings;
  /** Hooks of files run; absent: the environment and the home's settings say. */
  readonly fileHooks?: boolean;
  /** Where sessions are kept, by the command line; absent: the environment and the home's settings say. */
  readonly store?: string;
  /** Warnings about the settings, for users. */
  readonly warnings: readonly string[];
}

/** The flags that settings have. */
export const configFlags = {
  model: textFlag('--model', 'ID', 'the model that answers'),
  allow: allowFlag(),
  allowAll: switchFlag('--allow-all', 'let tools run without asking'),
  ...sandboxFlags,
  store: storeFlag,
  fileHooks: switchFlag('--file-hooks', 'run the hooks of hooks.json files'),
  noStreaming: switchFlag('--no-streaming', 'show answers when they are complete'),
  logLevel: choiceFlag('--log-level', logLevels, `diagnostics on stderr: ${logLevels.join(', ')}`),
  sessionIdleTimeout: numberFlag({
    name: '--session-idle-timeout',
    placeholder: 'S',
    help: 'unload sessions that are idle for so many seconds',
    most: longestSeconds,
  }),
};

/** Reads flags, environment and file into one. Throws UsageError that names the place. */
export function readConfig(flags: FlagValues<typeof configFlags>, environment: Environment): Config {
  const home = homeDirectory(environment, { isHeadless: false });
  const warnings: string[] = [];
  const file = readConfigFile(configPath(home), (message) => warnings.push(message));
  const model = flags.model ?? (environment.GROUNDCREW_MODEL || file.model);
  // The runtime reads them when it first calls a model; a mistake is to be known before anything is started.
  secondsFrom(environment);
  const level = flags.logLevel ?? levelFrom(environment) ?? file.logLevel;
  const ways = waysOf(environment, file);
  const { provider } = chooseProvider(ways, model) ?? {};
  const allow = allowedBy(flags, environment, file);
  const sandbox = sandboxBy(allow, sandboxOver(file.sandbox, flags.sandbox ?? sandboxFrom(environment)));
  return {
    homeDirectory: home,
    streaming: flags.noStreaming ? false : (streamingFrom(environment) ?? file.streaming ?? true),
    sessionIdleSeconds: flags.sessionIdleTimeout ?? idleFrom(environment) ?? file.sessionIdleTimeout ?? 0,
    allow,
    warnings,
    ways,
    ...(model !== undefined && { model }),
    ...(level !== undefined && { logLevel: level }),
    ...(provider && { provider }),
    ...(sandbox && { sandbox }),
    ...(flags.fileHooks && { fileHooks: true }),
    ...(flags.store !== undefined && { store: flags.store }),
  };
}

function waysOf(environment: Environment, { provider: file }: ConfigFile): readonly ProviderWay[] {
  try {
    return providerWays({ environment, file });
  } catch (error) {
    throw error instanceof BadModelSettings ? new UsageError(error.message) : error;
  }
}

function allowFlag(): Flag<Allowed> {
  return {
    names: ['--allow'],
    placeholder: 'RULE',
    help: `let this run without asking: ${permissionKinds.join(', ')}, or such as shell(git:*)`,
    read: readAllowed,
    join: (before, more) => (before === 'all' || more === 'all' ? 'all' : [...before, ...more]),
  };
}

function allowedBy(
  flags: FlagValues<typeof configFlags>,
  { GROUNDCREW_ALLOW }: Environment,
  file: ConfigFile,
): Allowed {
  if (flags.allowAll) return 'all';
  if (flags.allow) return flags.allow;
  return GROUNDCREW_ALLOW ? readAllowed(GROUNDCREW_ALLOW, 'GROUNDCREW_ALLOW') : (file.allow ?? []);
}

/** What runs unasked runs in a sandbox where that works, as in the mode `allow-all`, unless an executor is named. */
function sandboxBy(allow: Allowed, sandbox: SandboxSettings | undefined): SandboxSettings | undefined {
  return allow === 'all' ? { executor: 'auto', ...sandbox } : sandbox;
}

function levelFrom({ GROUNDCREW_LOG_LEVEL }: Environment): LogLevel | undefined {
  if (!GROUNDCREW_LOG_LEVEL) return undefined;
  const level = logLevel(GROUNDCREW_LOG_LEVEL);
  if (level) return level;
  throw new UsageError(
    `GROUNDCREW_LOG_LEVEL needs one of ${logLevels.join(', ')}, not ${GROUNDCREW_LOG_LEVEL}`,
  );
}

function streamingFrom({ GROUNDCREW_STREAMING }: Environment): boolean | undefined {
  return GROUNDCREW_STREAMING ? trueOrFalse(GROUNDCREW_STREAMING, 'GROUNDCREW_STREAMING') : undefined;
}

function idleFrom({ GROUNDCREW_SESSION_IDLE_TIMEOUT }: Environment): number | undefined {
  if (!GROUNDCREW_SESSION_IDLE_TIMEOUT) return undefined;
  return wholeNumber(GROUNDCREW_SESSION_IDLE_TIMEOUT, 'GROUNDCREW_SESSION_IDLE_TIMEOUT', longestSeconds);
}
