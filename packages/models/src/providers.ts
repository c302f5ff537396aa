import { ModelError } from './errors.js';
import type { Exchange } from './exchange.js';
import { checkedHeaders, expandVariables, type Headers } from './headers.js';
import { httpProvider } from './http-provider.js';
import type { CallOrigin, ModelProvider, ModelRequest } from './model.js';
import { readModelList } from './model-list.js';
import { nodeExchange } from './node-exchange.js';
import type { Environment } from './proxy.js';
import { openaiChatWire } from './wires/openai-chat/wire.js';

/** A model service as a client describes it. */
export interface ProviderConfig {
  readonly type?: 'openai' | 'azure' | 'anthropic' | undefined;
  readonly wireApi?: 'completions' | 'responses' | undefined;
  readonly transport?: 'http' | 'websockets' | undefined;
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  /** Wins over `apiKey`. */
  readonly bearerToken?: string | undefined;
  readonly azure?: { readonly apiVersion?: string | undefined } | undefined;
  /** Values may name variables of the environment: `${NAME}` or `${NAME:-default}`. */
  readonly headers?: Headers | undefined;
  readonly modelId?: string | undefined;
  /** The model's name as the service knows it. */
  readonly wireModel?: string | undefined;
  readonly maxPromptTokens?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
}

/** What every provider is given by its surroundings. */
export interface ProviderSurroundings {
  readonly environment: Environment;
  /** The version of Groundcrew, for the User-Agent. */
  readonly version: string;
  /** How calls are made; over the network unless somebody else makes them. */
  readonly exchange?: Exchange;
}

export interface OpenaiSurroundings extends ProviderSurroundings {
  /** Asked before every call; its token wins over the configured ones. */
  readonly getBearerToken?: () => Promise<string>;
}

/** A service of the user's own choice that speaks chat completions. */
export function openaiProvider(config: ProviderConfig, surroundings: OpenaiSurroundings): ModelProvider {
  checkServed(config);
  const { environment, version, getBearerToken } = surroundings;
  const wire = openaiChatWire();
  const configured = configuredHeaders(config, environment);
  const provider = httpProvider({
    id: config.baseUrl,
    wire,
    url: below(config.baseUrl, wire.path),
    models: { url: below(config.baseUrl, '/models'), read: readModelList },
    exchange: surroundings.exchange ?? nodeExchange({ environment }),
    headers: async (request) => ({
      ...jsonHeaders,
      'user-agent': userAgent(version, request?.origin),
      ...(request?.origin && initiatorHeaders(request.origin)),
      ...configured,
      ...(getBearerToken && checkedHeaders(bearer(await getBearerToken()))),
    }),
  });
  return { ...provider, stream: (request, signal) => provider.stream(asServed(request, config), signal) };
}

export interface CopilotConfig extends ProviderSurroundings {
  readonly baseUrl: string;
  readonly token: string;
}

/** The GitHub Copilot service. */
export function copilotProvider(config: CopilotConfig): ModelProvider {
  const { baseUrl, token, version, environment } = config;
  const wire = openaiChatWire({ dialect: 'copilot' });
  const fixed = checkedHeaders({
    ...jsonHeaders,
    ...bearer(token),
    'copilot-integration-id': 'copilot-developer-cli',
    'copilot-harness-id': 'copilot-sdk',
    'editor-version': `groundcrew/${version}`,
    'openai-intent': 'conversation-agent',
    'x-github-api-version': '2026-08-01',
  });
  return httpProvider({
    id: 'copilot',
    wire,
    url: below(baseUrl, wire.path),
    models: { url: below(baseUrl, '/models'), read: readModelList },
    exchange: config.exchange ?? nodeExchange({ environment }),
    headers: (request) => ({
      ...fixed,
      'user-agent': userAgent(version, request?.origin),
      ...(request?.origin && copilotHeaders(request.origin)),
    }),
  });
}

const jsonHeaders = { accept: 'application/json', 'content-type': 'application/json' };

function checkServed({ type = 'openai', wireApi = 'completions', transport = 'http' }: ProviderConfig): void {
  if (type === 'openai' && wireApi === 'completions' && transport === 'http') return;
  const asked = `type "${type}" with wireApi "${wireApi}" over ${transport}`;
  throw new ModelError(
    'configuration',
    `This version serves providers of type "openai" with wireApi "completions" over http, not ${asked}`,
  );
}

function configuredHeaders(config: ProviderConfig, environment: Environment): Headers {
  const token = config.bearerToken || config.apiKey;
  const expanded = Object.entries(config.headers ?? {}).map(([name, value]): [string, string] => [
    name,
    expandVariables(value, environment),
  ]);
  return { ...(token && checkedHeaders(bearer(token))), ...checkedHeaders(Object.fromEntries(expanded)) };
}

function bearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}

/** The address of a path below a base address, whose query stays. */
function below(baseUrl: string, path: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new ModelError('configuration', 'The baseUrl of the provider has to be an http or https address');
  if (url.username !== '' || url.password !== '')
    throw new ModelError('configuration', 'The baseUrl of the provider must not contain credentials');
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  url.hash = '';
  return url.href;
}

function asServed(request: ModelRequest, config: ProviderConfig): ModelRequest {
  const model = config.wireModel ?? request.model;
  const maxOutputTokens = request.maxOutputTokens ?? config.maxOutputTokens;
  return { ...request, model, ...(maxOutputTokens !== undefined && { maxOutputTokens }) };
}

function userAgent(version: string, origin: CallOrigin | undefined): string {
  const client = origin?.clientName?.replace(/[^\w!#$%&'*+.^`|~-]+/g, '-');
  return client ? `groundcrew/${version} client/${client}` : `groundcrew/${version}`;
}

function initiatorHeaders(origin: CallOrigin): Headers {
  return { 'x-initiator': origin.initiator, 'x-interaction-type': origin.interactionType };
}

function copilotHeaders(origin: CallOrigin): Headers {
  return {
    ...initiatorHeaders(origin),
    'x-interaction-id': origin.interactionId,
    'x-client-session-id': origin.sessionId,
  };
}
