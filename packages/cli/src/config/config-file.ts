import { statSync } from 'node:fs';
import type { Environment } from '@groundcrew/models';
import { waitKinds, webhookEvents } from '@groundcrew/protocol';
import type { SandboxSettings } from '@groundcrew/runtime';
import { longestSeconds, UsageError, wholeNumber } from '../flags/arguments.js';
import { logLevels } from '../log/log-levels.js';
import { type Allowed, type AllowRule, readRule } from './allow-rules.js';
import { executorOf } from './sandbox-text.js';
import {
  absolutePath,
  address,
  amountUpTo,
  flag,
  listOf,
  objectOf,
  oneOf,
  type Place,
  type Reader,
  recordOf,
  text,
  wholeNumberUpTo,
} from './settings-reader.js';
import { settingsText } from './settings-text.js';

/** The settings of a home. */
export type ConfigFile = ReturnType<typeof readFields>;

const tokens = wholeNumberUpTo(1_000_000_000);

const readProvider = objectOf({
  type: oneOf('openai', 'azure', 'anthropic'),
  wireApi: oneOf('completions', 'responses'),
  baseUrl: address,
  apiKey: text,
  bearerToken: text,
  headers: recordOf(text),
  azure: objectOf({ apiVersion: text }),
  modelId: text,
  wireModel: text,
  maxPromptTokens: tokens,
  maxOutputTokens: tokens,
});

const dollars = amountUpTo(1_000_000);

/** US dollars for a million tokens. */
const readPrice = objectOf({ input: dollars, output: dollars, cacheRead: dollars, cacheWrite: dollars });

/** What a runtime that clients start goes by as well. */
const modelFields = {
  model: text,
  provider: readProvider,
  prices: recordOf(readPrice),
  retryAfterLimit: wholeNumberUpTo(longestSeconds),
  modelIdleTimeout: wholeNumberUpTo(longestSeconds),
  headerVariables: listOf(text),
  titles: oneOf('model', 'prompt'),
};

const readRuleText: Reader<AllowRule> = (value, at) => readRule(text(value, at), `${at.path}:`);
const readRules = listOf(readRuleText);
const readAllowed: Reader<Allowed> = (value, at) => (value === 'all' ? value : readRules(value, at));

const readModelFields = objectOf(modelFields);

const readSandboxFields = objectOf({
  executor: (value: unknown, at: Place) => executorOf(text(value, at), `${at.path}:`),
  network: flag,
  writablePaths: listOf(absolutePath),
  readOnlyPaths: listOf(absolutePath),
  deniedPaths: listOf(absolutePath),
});

/** The setting that only a sandbox can keep. */
function protectionIn({ network, deniedPaths = [] }: SandboxSettings): string | undefined {
  if (network === false) return 'network';
  return deniedPaths.length > 0 ? 'deniedPaths' : undefined;
}

/** The name of an executor, or that and more. An unknown field was meant to protect: it is refused. */
const readSandbox: Reader<SandboxSettings> = (value, at) => {
  if (typeof value === 'string') return { executor: executorOf(value, `${at.path}:`) };
  const warn = (field: string) => {
    throw new UsageError(`${field}: unknown field`);
  };
  const settings = readSandboxFields(value, { ...at, warn });
  const protection = settings.executor === 'host' && protectionIn(settings);
  if (protection)
    throw new UsageError(
      `${at.path}.${protection}: needs a sandbox, and executor: host is none; leave one of them out`,
    );
  return settings;
};

const readSandboxOnly = objectOf({ sandbox: readSandbox });

const readFileHooksOnly = objectOf({ sandbox: readSandbox, fileHooks: flag });

/** One address, or a list of them. */
const readStore: Reader<string> = (value, at) =>
  Array.isArray(value) ? listOf(text)(value, at).join(',') : text(value, at);

const readStoreOnly = objectOf({ sandbox: readSandbox, store: readStore });

/** Which sessions are kept. */
const readRetention = objectOf({ olderThan: text, keep: wholeNumberUpTo(1_000_000_000), maxSize: text });

/** An address that receives webhooks about sessions. */
const readWebhook = objectOf({
  url: address,
  secretFile: absolutePath,
  secretVariable: text,
  events: listOf(oneOf(...webhookEvents)),
  waitingOn: listOf(oneOf(...waitKinds)),
  allowPrivate: flag,
  retry: listOf(wholeNumberUpTo(24 * 60 * 60)),
  timeout: wholeNumberUpTo(60),
});

const readWebhooks = listOf(readWebhook);

const readWebhooksOnly = objectOf({ sandbox: readSandbox, webhooks: readWebhooks });

const readRetentionOnly = objectOf({ sandbox: readSandbox, retention: readRetention });

const readFields = objectOf({
  ...modelFields,
  retention: readRetention,
  webhooks: readWebhooks,
  store: readStore,
  sandbox: readSandbox,
  fileHooks: flag,
  streaming: flag,
  logLevel: oneOf(...logLevels),
  sessionIdleTimeout: wholeNumberUpTo(longestSeconds),
  allow: readAllowed,
});

/** Reads the settings of a home; none is as good as an empty file. Throws UsageError with file and field. */
export function readConfigFile(path: string, warn: (message: string) => void): ConfigFile {
  return read(path, (value) => {
    const config = readFields(value, {
      path: '',
      warn: (field, message) => warn(`${path}: ${field}: ${message}`),
    });
    if (holdsSecrets(config) && isReadByOthers(path))
      warn(`${path}: others can read the key in it; chmod 600 makes it yours alone`);
    return config;
  });
}

/**
 * What of the settings of a home is about models. Other programs keep a file of this name in homes that clients choose:
 * one that says nothing of models is left alone, whatever it is. Throws UsageError with file and field.
 */
export function readModelSettings(path: string): ReturnType<typeof readModelFields> {
  const isOurs = new RegExp(`"(?:${Object.keys(modelFields).join('|')})"`).test(sourceOf(path) ?? '');
  return isOurs ? read(path, (value) => readModelFields(value, { path: '', warn: () => undefined })) : {};
}

/**
 * What the settings of a home say of the sandbox. It protects, so it holds for clients that read no other setting; what
 * cannot be understood is an error. Throws UsageError with file and field.
 */
export function readSandboxSetting(path: string): SandboxSettings | undefined {
  if (!/"sandbox"\s*:/.test(sourceOf(path) ?? '')) return undefined;
  return read(path, (value) => readSandboxOnly(value, { path: '', warn: () => undefined })).sandbox;
}

/** Whether the settings of a home enable hooks from files. They protect, so it holds for every client. Throws UsageError. */
export function readFileHooksSetting(path: string): boolean {
  if (!/"fileHooks"\s*:/.test(sourceOf(path) ?? '')) return false;
  return (
    read(path, (value) => readFileHooksOnly(value, { path: '', warn: () => undefined })).fileHooks ?? false
  );
}

/** Where the settings of a home keep its sessions. It decides where data is, so it holds for every client. Throws UsageError. */
export function readStoreSetting(path: string): string | undefined {
  if (!/"store"\s*:/.test(sourceOf(path) ?? '')) return undefined;
  return read(path, (value) => readStoreOnly(value, { path: '', warn: () => undefined })).store;
}

/** Which sessions the settings of a home keep. It decides what is deleted: an unknown field is an error. Throws UsageError. */
export function readRetentionSetting(path: string): ReturnType<typeof readRetention> | undefined {
  if (!/"retention"\s*:/.test(sourceOf(path) ?? '')) return undefined;
  const warn = (field: string) => {
    if (field.startsWith('retention')) throw new UsageError(`${field}: unknown field`);
  };
  return read(path, (value) => readRetentionOnly(value, { path: '', warn })).retention;
}

/** The receivers of webhooks of a home. They decide what leaves it: an unknown field is an error. Throws UsageError. */
export function readWebhooksSetting(path: string): ReturnType<typeof readWebhooks> {
  if (!/"webhooks"\s*:/.test(sourceOf(path) ?? '')) return [];
  const warn = (field: string) => {
    if (field.startsWith('webhooks')) throw new UsageError(`${field}: unknown field`);
  };
  return read(path, (value) => readWebhooksOnly(value, { path: '', warn })).webhooks ?? [];
}

/** Limits of model calls that the environment names. Throws UsageError. */
export function secondsFrom(
  environment: Environment,
): Pick<ConfigFile, 'retryAfterLimit' | 'modelIdleTimeout'> {
  const seconds = (name: string) => {
    const value = environment[name];
    return value ? wholeNumber(value, name, longestSeconds) : undefined;
  };
  const retryAfterLimit = seconds('GROUNDCREW_RETRY_AFTER_LIMIT');
  const modelIdleTimeout = seconds('GROUNDCREW_MODEL_IDLE_TIMEOUT');
  return {
    ...(retryAfterLimit !== undefined && { retryAfterLimit }),
    ...(modelIdleTimeout !== undefined && { modelIdleTimeout }),
  };
}

function read<
  T extends { readonly provider?: ReturnType<typeof readProvider>; readonly sandbox?: SandboxSettings },
>(path: string, from: (value: unknown) => T): T | Record<string, never> {
  const source = sourceOf(path);
  if (source === undefined) return {};
  try {
    const config = from(JSON.parse(source));
    if (config.provider && config.provider.baseUrl === undefined)
      throw new UsageError('provider.baseUrl: missing');
    return config;
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof SyntaxError)) throw error;
    const reason =
      error instanceof SyntaxError ? `no valid JSON: ${placed(error.message, source)}` : error.message;
    throw new UsageError(`${path}: ${reason}`);
  }
}

function sourceOf(path: string): string | undefined {
  try {
    return settingsText(path);
  } catch (error) {
    throw new UsageError(`${path}: cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** Where the fault is, as users count; the text around it may hold a secret and is left out. */
function placed(message: string, source: string): string {
  if (message.includes('end of JSON')) return 'it ends too early';
  const position = /at position (\d+)/.exec(message)?.[1];
  const before = source.slice(0, position === undefined ? lengthOfTokens(source) : Number(position));
  if (before.length === source.length) return /^Unexpected token '.'/.exec(message)?.[0] ?? 'out of order';
  const lines = before.split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** Not every parser says where it stopped: most often it is where no token begins. */
function lengthOfTokens(source: string): number {
  const tokens = /\s*(?:[{}[\],:]|"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true\b|false\b|null\b)\s*/y;
  let length = 0;
  while (tokens.test(source)) length = tokens.lastIndex;
  return length;
}

function holdsSecrets({ provider, store = '' }: ConfigFile): boolean {
  const hasPassword = /:\/\/[^/]*:[^/]*@|[?&]password=/.test(store);
  return provider?.apiKey !== undefined || provider?.bearerToken !== undefined || hasPassword;
}

function isReadByOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0;
}
