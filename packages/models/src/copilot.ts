import { addressOf, sourceOf } from './credentials.js';
import { ModelError } from './errors.js';
import { authenticationAmong, checkedHeaders, type Headers } from './headers.js';
import { httpProvider } from './http-provider.js';
import { property } from './json.js';
import type { CallOrigin, ModelInfo, ModelProvider, ModelRequest } from './model.js';
import { readModelList } from './model-list.js';
import { nodeExchange } from './node-exchange.js';
import {
  configuredHeaders,
  initiatorHeaders,
  jsonHeaders,
  type ProviderContext,
  userAgent,
} from './providers.js';
import { bearer, below } from './services.js';
import { type KnownWire, wires } from './wires.js';

export interface CopilotConfig extends ProviderContext {
  readonly baseUrl: string;
  readonly token: string;
  /** More headers of the user's own. */
  readonly headers?: Headers | undefined;
  /** Which of its APIs serves a model; chat completions by default. */
  readonly apiOf?: (model: string) => CopilotApi;
}

/** One of the APIs that the Copilot service speaks. */
export type CopilotApi = 'chat' | 'responses' | 'responses-socket' | 'messages';

/** The GitHub Copilot service. */
export function copilotProvider(config: CopilotConfig): ModelProvider {
  const { baseUrl, environment, apiOf = () => 'chat' } = config;
  const exchange = config.exchange ?? nodeExchange({ environment });
  const own = checkedHeaders(configuredHeaders(config, { environment }));
  const at = (api: CopilotApi): ModelProvider => {
    const { wire, path } = apis[api];
    const url = below(baseUrl, path);
    return httpProvider({
      id: 'copilot',
      wire: wire.load,
      wireName: wire.name,
      url: () => url,
      ...(wire.transport && { transport: wire.transport }),
      models: { url: () => below(baseUrl, '/models'), read: readModelList },
      exchange,
      credentials: {
        address: addressOf(baseUrl),
        source: sourceOf(config.token, 'the GitHub token that the client gave', environment),
      },
      headers: (request) => ({
        ...copilotHeaders(config, request),
        ...apis[api].headers,
        ...(request?.replacesHeaders ? authenticationAmong(own) : own),
      }),
    });
  };
  const responses = at('responses');
  const served = {
    chat: at('chat'),
    responses,
    'responses-socket': withFallback(at('responses-socket'), responses),
    messages: at('messages'),
  };
  return {
    id: 'copilot',
    models: (signal) => served.chat.models(signal),
    stream: (request, signal) => served[apiOf(request.model)].stream(request, signal),
  };
}

/** The first service until it cannot be had at all; from then on the other one. */
function withFallback(first: ModelProvider, other: ModelProvider): ModelProvider {
  let isLost = false;
  return {
    ...first,
    async *stream(request, signal) {
      let isBegun = false;
      try {
        for await (const batch of isLost ? [] : first.stream(request, signal)) {
          isBegun = true;
          yield batch;
        }
        if (!isLost) return;
      } catch (error) {
        if (isBegun || signal.aborted || !isUnreachable(error)) throw error;
        isLost = true;
      }
      yield* other.stream(request, signal);
    },
  };
}

/** Nothing answers here, or nothing that knows of WebSockets. */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof ModelError)) return false;
  const { kind, statusCode } = error;
  if (statusCode !== undefined) return [400, 404, 405, 426, 501].includes(statusCode);
  return kind === 'network' || kind === 'unavailable' || kind === 'bad_response';
}

/** The API by which the service wants a model to be called; chat completions where it says nothing. */
export function copilotApiOf(
  model: ModelInfo | undefined,
  { webSockets = false }: { readonly webSockets?: boolean } = {},
): CopilotApi {
  const listed = property(model?.raw, 'supported_endpoints');
  if (!Array.isArray(listed) || listed.includes('/chat/completions')) return 'chat';
  if (webSockets && listed.includes('ws:/responses')) return 'responses-socket';
  if (listed.includes('/responses')) return 'responses';
  return listed.includes('/v1/messages') ? 'messages' : 'chat';
}

/** What the service is sent with every call. */
export function copilotHeaders(
  { token, version }: Pick<CopilotConfig, 'token' | 'version'>,
  request: Pick<ModelRequest, 'origin'> | undefined,
): Headers {
  return {
    ...jsonHeaders,
    ...checkedHeaders(bearer(token)),
    'copilot-integration-id': 'copilot-developer-cli',
    'copilot-harness-id': 'copilot-sdk',
    'editor-version': `groundcrew/${version}`,
    'openai-intent': 'conversation-agent',
    'x-github-api-version': '2026-08-01',
    'user-agent': userAgent(version, request?.origin, 'copilot'),
    ...(request?.origin && originHeaders(request.origin)),
  };
}

const apis: Readonly<Record<CopilotApi, { wire: KnownWire; path: string; headers: Headers }>> = {
  chat: { wire: wires['copilot-chat'], path: '/chat/completions', headers: {} },
  responses: { wire: wires['openai-responses'], path: '/responses', headers: {} },
  'responses-socket': { wire: wires['openai-responses-socket'], path: '/responses', headers: {} },
  messages: {
    wire: wires['anthropic-messages'],
    path: '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' },
  },
};

function originHeaders(origin: CallOrigin): Headers {
  return {
    ...initiatorHeaders(origin),
    'x-interaction-id': origin.interactionId,
    'x-client-session-id': origin.sessionId,
  };
}
