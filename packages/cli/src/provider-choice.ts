import { UsageError } from './arguments.js';
import type { ConfigFile } from './config-file.js';
import type { Environment } from './home.js';

/** A model service of the user's own. */
export type Provider = NonNullable<ConfigFile['provider']> & { readonly baseUrl: string };

/** The service that answers, and who named it. */
export interface ChosenProvider {
  readonly source: string;
  readonly config: Provider;
}

/** What speaks for a service. */
export interface ProviderSources {
  readonly environment: Environment;
  readonly file: ConfigFile['provider'] | undefined;
  readonly model?: string;
}

/**
 * The model service to use: of the environment, of the file, or one whose key other programs use as well.
 * Such a key comes last, also after the Copilot API: nobody put it there for Groundcrew.
 */
export function chooseProvider(sources: ProviderSources): ChosenProvider | undefined {
  const { environment, file, model } = sources;
  if (model === 'offline') return undefined;
  const named = ofEnvironment(environment, file) ?? ofFile(file);
  if (named) return named;
  return isCopilotConfigured(environment) ? undefined : ofOtherPrograms(environment, model);
}

/** Whether the environment says where the Copilot API is and who asks. */
export function isCopilotConfigured({ COPILOT_API_URL, GH_TOKEN, GITHUB_TOKEN }: Environment): boolean {
  return Boolean(COPILOT_API_URL && (GH_TOKEN || GITHUB_TOKEN));
}

/** A key belongs to one address: that of the file is never sent to one that the environment names. */
function ofEnvironment(
  { GROUNDCREW_BASE_URL, GROUNDCREW_API_KEY }: Environment,
  file: ConfigFile['provider'],
): ChosenProvider | undefined {
  const baseUrl = GROUNDCREW_BASE_URL || (GROUNDCREW_API_KEY ? file?.baseUrl : undefined);
  if (!baseUrl && GROUNDCREW_API_KEY)
    throw new UsageError('GROUNDCREW_API_KEY has no service to go to: set GROUNDCREW_BASE_URL too');
  if (!baseUrl) return undefined;
  if (!URL.canParse(baseUrl) || !/^https?:/i.test(baseUrl))
    throw new UsageError('GROUNDCREW_BASE_URL needs an http or https address');
  const known = file?.baseUrl === baseUrl ? file : undefined;
  const config = { ...known, baseUrl, ...(GROUNDCREW_API_KEY && { apiKey: GROUNDCREW_API_KEY }) };
  return {
    source: GROUNDCREW_BASE_URL ? 'GROUNDCREW_BASE_URL' : 'config.json and GROUNDCREW_API_KEY',
    config,
  };
}

function ofFile(file: ConfigFile['provider']): ChosenProvider | undefined {
  if (file?.baseUrl === undefined) return undefined;
  return { source: 'config.json', config: { ...file, baseUrl: file.baseUrl } };
}

interface KnownService {
  readonly keyName: string;
  baseUrl(environment: Environment): string;
  readonly modelId: string;
  readonly serves: RegExp;
}

/** Services whose keys stand in many environments; each speaks chat completions at this address. */
const knownServices: readonly KnownService[] = [
  {
    keyName: 'OPENAI_API_KEY',
    baseUrl: ({ OPENAI_BASE_URL }) => OPENAI_BASE_URL || 'https://api.openai.com/v1',
    modelId: 'gpt-4.1',
    serves: /^(?:gpt|o\d|chatgpt|codex)/i,
  },
  {
    keyName: 'ANTHROPIC_API_KEY',
    baseUrl: ({ ANTHROPIC_BASE_URL }) =>
      `${(ANTHROPIC_BASE_URL || 'https://api.anthropic.com').replace(/(?:\/v1)?\/*$/, '')}/v1`,
    modelId: 'claude-sonnet-4-5',
    serves: /^claude/i,
  },
];

function ofOtherPrograms(environment: Environment, model: string | undefined): ChosenProvider | undefined {
  const there = knownServices.filter(({ keyName }) => environment[keyName]);
  const service = there.find(({ serves }) => model !== undefined && serves.test(model)) ?? there[0];
  const apiKey = service && environment[service.keyName];
  if (!service || !apiKey) return undefined;
  const { keyName, modelId } = service;
  return { source: keyName, config: { baseUrl: service.baseUrl(environment), apiKey, modelId } };
}
