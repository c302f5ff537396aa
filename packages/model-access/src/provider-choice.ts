import type { Environment, ProviderConfig } from '@groundcrew/models';
import type { ProviderSettings } from '@groundcrew/runtime';

/** The environment names a model service in a way that makes no sense; the message says what to do instead. */
export class BadModelSettings extends Error {
  override readonly name = 'BadModelSettings';
}

/** A model service of the user's own. */
export type Provider = ProviderSettings & ProviderConfig;

/** The service that answers, and who named it. */
export interface ChosenProvider {
  readonly source: string;
  readonly config: Provider;
}

/** A place where a service may be named, and the service, if one is. */
export interface ProviderWay {
  readonly name: 'provider' | 'openai' | 'anthropic' | 'azure' | 'ollama';
  readonly provider?: ChosenProvider;
  /** Why there is none. */
  readonly reason: string;
  /** Names of models that are certainly this service's. */
  readonly serves?: RegExp;
}

/** What speaks for a service. */
export interface ProviderSources {
  readonly environment: Environment;
  readonly file: ProviderSettings | undefined;
}

/** Every place where a model service may be named, the first to count first. Throws BadModelSettings for one that makes no sense. */
export function providerWays({ environment: variables, file }: ProviderSources): readonly ProviderWay[] {
  // A variable that is blank says nothing.
  const environment = Object.fromEntries(Object.entries(variables).filter(([, value]) => value?.trim()));
  const named = ofGroundcrew(environment, file) ?? ofFile(file);
  return [
    {
      name: 'provider',
      reason: 'set GROUNDCREW_BASE_URL, or provider in config.json',
      ...(named && { provider: named }),
    },
    ...ambientServices.map(({ read, ...way }): ProviderWay => {
      const found = read(environment);
      return typeof found === 'string' ? { ...way, reason: found } : { ...way, reason: '', provider: found };
    }),
  ];
}

/**
 * The service of a session that names this model, or none. What is named for Groundcrew takes every model; among keys
 * that other programs use as well, the one whose service certainly has the model comes first.
 */
export function chooseProvider(
  ways: readonly ProviderWay[],
  model: string | undefined,
): ProviderWay | undefined {
  if (model === 'offline') return undefined;
  const there = ways.filter(({ provider }) => provider !== undefined);
  const [first] = there;
  if (first?.name === 'provider') return first;
  return there.find(({ serves }) => model !== undefined && serves?.test(model)) ?? first;
}

/** Whether the environment has both the address of the Copilot API and a token for it. */
export function isCopilotConfigured({ COPILOT_API_URL, GH_TOKEN, GITHUB_TOKEN }: Environment): boolean {
  return Boolean(COPILOT_API_URL && (GH_TOKEN || GITHUB_TOKEN));
}

/** A key belongs to one address: that of the file is never sent to one that the environment names. */
function ofGroundcrew(
  { GROUNDCREW_BASE_URL, GROUNDCREW_API_KEY }: Environment,
  file: ProviderSettings | undefined,
): ChosenProvider | undefined {
  const baseUrl = GROUNDCREW_BASE_URL || (GROUNDCREW_API_KEY ? file?.baseUrl : undefined);
  if (!baseUrl && GROUNDCREW_API_KEY)
    throw new BadModelSettings('GROUNDCREW_API_KEY has no service to go to: set GROUNDCREW_BASE_URL too');
  if (!baseUrl) return undefined;
  if (!isAddress(baseUrl)) throw new BadModelSettings('GROUNDCREW_BASE_URL needs an http or https address');
  const known = file?.baseUrl === baseUrl ? file : undefined;
  const config = { ...known, baseUrl, ...(GROUNDCREW_API_KEY && { apiKey: GROUNDCREW_API_KEY }) };
  return {
    source: GROUNDCREW_BASE_URL ? 'GROUNDCREW_BASE_URL' : 'config.json and GROUNDCREW_API_KEY',
    config,
  };
}

function ofFile(file: ProviderSettings | undefined): ChosenProvider | undefined {
  if (file?.baseUrl === undefined) return undefined;
  return { source: 'config.json', config: { ...file, baseUrl: file.baseUrl } };
}

interface AmbientService extends Pick<ProviderWay, 'name' | 'serves'> {
  /** The service, or what is missing. */
  read(environment: Environment): ChosenProvider | string;
}

/** Services whose keys and addresses stand in many environments. */
const ambientServices: readonly AmbientService[] = [
  { name: 'openai', serves: /^(?:gpt-(?!oss)|o\d|chatgpt|codex)/i, read: openai },
  { name: 'anthropic', serves: /^claude/i, read: anthropic },
  { name: 'azure', read: azure },
  { name: 'ollama', read: ollama },
];

function openai({ OPENAI_API_KEY: apiKey, OPENAI_BASE_URL }: Environment): ChosenProvider | string {
  if (!apiKey) return 'set OPENAI_API_KEY';
  const baseUrl = OPENAI_BASE_URL || 'https://api.openai.com/v1';
  return { source: 'OPENAI_API_KEY', config: { baseUrl, apiKey, modelId: 'gpt-4.1' } };
}

function anthropic({ ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL }: Environment): ChosenProvider | string {
  if (!apiKey) return 'set ANTHROPIC_API_KEY';
  const baseUrl = ANTHROPIC_BASE_URL || 'https://api.anthropic.com';
  return {
    source: 'ANTHROPIC_API_KEY',
    config: { type: 'anthropic', baseUrl, apiKey, modelId: 'claude-sonnet-4-5' },
  };
}

function azure(environment: Environment): ChosenProvider | string {
  const { AZURE_OPENAI_API_KEY: apiKey, AZURE_OPENAI_ENDPOINT: baseUrl } = environment;
  if (!apiKey && !baseUrl) return 'set AZURE_OPENAI_ENDPOINT and AZURE_OPENAI_API_KEY';
  if (!baseUrl) return 'AZURE_OPENAI_API_KEY is set, AZURE_OPENAI_ENDPOINT is not';
  if (!apiKey) return 'AZURE_OPENAI_ENDPOINT is set, AZURE_OPENAI_API_KEY is not';
  const apiVersion = environment.AZURE_OPENAI_API_VERSION || environment.OPENAI_API_VERSION;
  const modelId = environment.AZURE_OPENAI_DEPLOYMENT || environment.AZURE_OPENAI_DEPLOYMENT_NAME;
  const config: Provider = {
    type: 'azure',
    baseUrl,
    apiKey,
    ...(apiVersion && { azure: { apiVersion } }),
    ...(modelId && { modelId }),
  };
  return { source: 'AZURE_OPENAI_ENDPOINT', config };
}

/** Ollama takes its address in many forms, and listens on all interfaces when given `0.0.0.0`. */
function ollama({ OLLAMA_HOST: host }: Environment): ChosenProvider | string {
  if (!host) return 'set OLLAMA_HOST';
  const full = /^https?:\/\//i.test(host)
    ? host
    : `http://${host.startsWith(':') ? `127.0.0.1${host}` : host}`;
  if (!isAddress(full)) return 'OLLAMA_HOST is no address';
  const url = new URL(full);
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  const hasPort = url.port !== '' || /:(?:80|443)(?:\/|$)/.test(full) || /^https:/i.test(full);
  if (!hasPort) url.port = '11434';
  const path = url.pathname.replace(/\/+$/, '');
  return {
    source: 'OLLAMA_HOST',
    config: { baseUrl: `${url.origin}${path.endsWith('/v1') ? path : `${path}/v1`}` },
  };
}

function isAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:/i.test(text);
}
