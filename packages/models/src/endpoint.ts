import { copilotHeaders } from './copilot.js';
import type { Headers } from './headers.js';
import type { CallOrigin } from './model.js';
import { configuredHeaders, type ProviderConfig, type ServiceContext } from './providers.js';
import { bearer, serviceAt } from './services.js';

/** A service as another program may call it: where it is, and what to show it. */
export interface ServiceEndpoint {
  readonly type: 'openai' | 'azure' | 'anthropic';
  /** Anthropic has but one. */
  readonly wireApi?: 'completions' | 'responses';
  readonly transport?: 'websockets';
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Names as they are usually written. */
  readonly headers: Headers;
}

/** How a service of the user's own is called; a token it asks for is asked for now. */
export async function endpointOf(
  config: ProviderConfig,
  context: Pick<ServiceContext, 'environment' | 'headerVariables' | 'getBearerToken'>,
  signal: AbortSignal,
): Promise<ServiceEndpoint> {
  const { getBearerToken } = context;
  const { type = 'openai', wireApi = 'completions', transport, baseUrl, apiKey } = config;
  const token = getBearerToken ? await getBearerToken(signal) : config.bearerToken;
  return {
    type,
    ...(type !== 'anthropic' && { wireApi }),
    ...(transport === 'websockets' && { transport }),
    baseUrl,
    ...(apiKey !== undefined && { apiKey }),
    headers: {
      ...written(serviceAt(config).headers),
      ...configuredHeaders(config, context),
      ...(token && written(bearer(token))),
    },
  };
}

/** How the Copilot service is called on behalf of a session. */
export function copilotEndpoint(config: {
  readonly baseUrl: string;
  readonly token: string;
  readonly version: string;
  readonly origin: CallOrigin;
}): ServiceEndpoint {
  const { baseUrl, token, version, origin } = config;
  return {
    type: 'openai',
    wireApi: 'completions',
    baseUrl,
    apiKey: token,
    headers: written(copilotHeaders({ token, version }, { origin })),
  };
}

function written(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [usual(name), value]));
}

function usual(name: string): string {
  const words = name.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return words.map((word) => (word === 'Github' ? 'GitHub' : word)).join('-');
}
