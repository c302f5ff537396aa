import type { Environment } from '@groundcrew/http-client';
import { addressOf, keyVariableOf, sourceOf } from './credentials.js';
import type { Exchange } from './exchange.js';
import { authenticationAmong, checkedHeaders, expandVariables, type Headers } from './headers.js';
import { httpProvider } from './http-provider.js';
import type { CallOrigin, ModelProvider, ModelRequest } from './model.js';
import { readModelList } from './model-list.js';
import { nodeExchange } from './node-exchange.js';
import { bearer, type Service, type ServiceAddress, serviceAt } from './services.js';

/** A model service as a client describes it. */
export interface ProviderConfig extends ServiceAddress {
  readonly apiKey?: string | undefined;
  /** Wins over `apiKey`. */
  readonly bearerToken?: string | undefined;
  /** Values may name variables of the environment: `${NAME}` or `${NAME:-default}`. */
  readonly headers?: Headers | undefined;
  readonly modelId?: string | undefined;
  /** The model's name as the service knows it; `modelId` where there is none. */
  readonly wireModel?: string | undefined;
  readonly maxPromptTokens?: number | undefined;
  readonly maxContextWindowTokens?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
}

/** What every provider is given by its environment. */
export interface ProviderContext {
  readonly environment: Environment;
  /** The variables that headers may name; those of the environment unless others are given. */
  readonly headerVariables?: Environment;
  /** The version of Groundcrew, for the User-Agent. */
  readonly version: string;
  /** How calls are made; over the network unless a client makes them. */
  readonly exchange?: Exchange;
}

/** Gives the token of the next call. */
export type GetBearerToken = (signal: AbortSignal) => Promise<string>;

export interface ServiceContext extends ProviderContext {
  /** Asked before every call; its token wins over the configured ones. */
  readonly getBearerToken?: GetBearerToken;
}

/** A service of the user's own choice: whatever it is, a wire at an address. */
export function configuredProvider(config: ProviderConfig, context: ServiceContext): ModelProvider {
  const { environment, version, getBearerToken } = context;
  const service = serviceAt(config);
  const authentication = checkedHeaders(authenticationOf(config, service));
  const configured = checkedHeaders(configuredHeaders(config, context));
  const provider = httpProvider({
    id: config.baseUrl,
    wire: service.wire.load,
    wireName: service.wire.name,
    url: service.url,
    ...(service.wire.transport && { transport: service.wire.transport }),
    models: { url: service.modelsUrl, read: readModelList },
    exchange: context.exchange ?? nodeExchange({ environment }),
    credentials: {
      address: addressOf(config.baseUrl),
      source: credentialSource(config, context),
      missing: keyVariableOf(config.baseUrl, context.environment),
    },
    headers: async (request, signal) => ({
      'user-agent': userAgent(version, request?.origin),
      ...jsonHeaders,
      ...service.headers,
      ...(request?.origin && initiatorHeaders(request.origin)),
      ...authentication,
      ...(request?.replacesHeaders ? authenticationAmong(configured) : configured),
      ...(getBearerToken && checkedHeaders(bearer(await getBearerToken(signal)))),
    }),
  });
  return { ...provider, stream: (request, signal) => provider.stream(asServed(request, config), signal) };
}

/** What every service is sent. */
export const jsonHeaders = { accept: 'application/json', 'content-type': 'application/json' };

/** How a service knows who asks. */
function authenticationOf({ apiKey, bearerToken }: ProviderConfig, service: Service): Headers {
  if (bearerToken) return bearer(bearerToken);
  return apiKey ? service.key(apiKey) : {};
}

/** What to check when the service refuses who asks. */
function credentialSource(
  { apiKey, bearerToken, headers }: ProviderConfig,
  { environment, getBearerToken }: ServiceContext,
): string | undefined {
  if (getBearerToken) return 'the token that the client gave for this call';
  if (bearerToken) return sourceOf(bearerToken, 'provider.bearerToken', environment);
  if (apiKey) return sourceOf(apiKey, 'provider.apiKey', environment);
  return headers && Object.keys(headers).length > 0 ? 'provider.headers' : undefined;
}

/** The headers of a configuration with their variables filled in. */
export function configuredHeaders(
  { headers }: Pick<ProviderConfig, 'headers'>,
  { environment, headerVariables }: Pick<ProviderContext, 'environment' | 'headerVariables'>,
): Headers {
  const options = headerVariables
    ? { advice: ', or not allowed: GROUNDCREW_HEADER_ENV lists those that are' }
    : {};
  const expanded = Object.entries(headers ?? {}).map(([name, value]): [string, string] => [
    name,
    expandVariables(value, headerVariables ?? environment, options),
  ]);
  return Object.fromEntries(expanded);
}

function asServed(request: ModelRequest, config: ProviderConfig): ModelRequest {
  const model = config.wireModel ?? config.modelId ?? request.model;
  const maxOutputTokens = request.maxOutputTokens ?? config.maxOutputTokens;
  return { ...request, model, ...(maxOutputTokens !== undefined && { maxOutputTokens }) };
}

/** The `User-Agent`: this program, the service's comment if it wants one, and the app that makes the call. */
export function userAgent(version: string, origin: CallOrigin | undefined, comment = ''): string {
  const client = origin?.clientName?.replace(/[^\w!#$%&'*+.^`|~-]+/g, '-');
  const named = comment === '' ? `groundcrew/${version}` : `groundcrew/${version} (${comment})`;
  return client ? `${named} client/${client}` : named;
}

/** Headers that tell calls for a user's prompt from those that an agent makes on its own. */
export function initiatorHeaders(origin: CallOrigin): Headers {
  return { 'x-initiator': origin.initiator, 'x-interaction-type': origin.interactionType };
}
