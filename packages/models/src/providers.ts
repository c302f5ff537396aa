import type { Exchange } from './exchange.js';
import { checkedHeaders, expandVariables, type Headers } from './headers.js';
import { httpProvider } from './http-provider.js';
import type { CallOrigin, ModelProvider, ModelRequest } from './model.js';
import { readModelList } from './model-list.js';
import { nodeExchange } from './node-exchange.js';
import type { Environment } from './proxy.js';
import { bearer, below, type Service, type ServiceAddress, serviceAt } from './services.js';
import { wires } from './wires.js';

/** A model service as a client describes it. */
export interface ProviderConfig extends ServiceAddress {
  readonly apiKey?: string | undefined;
  /** Wins over `apiKey`. */
  readonly bearerToken?: string | undefined;
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

export interface ServiceSurroundings extends ProviderSurroundings {
  /** Asked before every call; its token wins over the configured ones. */
  readonly getBearerToken?: () => Promise<string>;
}

/** A service of the user's own choice: whatever it is, a wire at an address. */
export function configuredProvider(config: ProviderConfig, surroundings: ServiceSurroundings): ModelProvider {
  const { environment, version, getBearerToken } = surroundings;
  const service = serviceAt(config);
  const authentication = checkedHeaders(authenticationOf(config, service));
  const configured = configuredHeaders(config, environment);
  const provider = httpProvider({
    id: config.baseUrl,
    wire: service.wire.load,
    url: service.url,
    models: { url: service.modelsUrl, read: readModelList },
    exchange: surroundings.exchange ?? nodeExchange({ environment }),
    headers: async (request) => ({
      ...jsonHeaders,
      ...service.headers,
      'user-agent': userAgent(version, request?.origin),
      ...(request?.origin && initiatorHeaders(request.origin)),
      ...authentication,
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
  const wire = wires['copilot-chat'];
  const url = below(baseUrl, wire.path);
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
    wire: wire.load,
    url: () => url,
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

function authenticationOf({ apiKey, bearerToken }: ProviderConfig, service: Service): Headers {
  if (bearerToken) return bearer(bearerToken);
  return apiKey ? service.key(apiKey) : {};
}

function configuredHeaders(config: ProviderConfig, environment: Environment): Headers {
  const expanded = Object.entries(config.headers ?? {}).map(([name, value]): [string, string] => [
    name,
    expandVariables(value, environment),
  ]);
  return checkedHeaders(Object.fromEntries(expanded));
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
