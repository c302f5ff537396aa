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
  type ProviderSurroundings,
  userAgent,
} from './providers.js';
import { bearer, below } from './services.js';
import { wires } from './wires.js';

export interface CopilotConfig extends ProviderSurroundings {
  readonly baseUrl: string;
  readonly token: string;
  /** More headers of the user's own. */
  readonly headers?: Headers | undefined;
  /** Which of its APIs serves a model; chat completions unless told otherwise. */
  readonly apiOf?: (model: string) => CopilotApi;
}

/** One of the APIs that the Copilot service speaks. */
export type CopilotApi = 'chat' | 'responses' | 'messages';

/** The GitHub Copilot service. */
export function copilotProvider(config: CopilotConfig): ModelProvider {
  const { baseUrl, environment, apiOf = () => 'chat' } = config;
  const exchange = config.exchange ?? nodeExchange({ environment });
  const own = checkedHeaders(configuredHeaders(config, environment));
  const at = (api: CopilotApi): ModelProvider => {
    const { wire, path } = apis[api];
    const url = below(baseUrl, path);
    return httpProvider({
      id: 'copilot',
      wire: wire.load,
      url: () => url,
      models: { url: below(baseUrl, '/models'), read: readModelList },
      exchange,
      headers: (request) => ({
        ...copilotHeaders(config, request),
        ...apis[api].headers,
        ...(request?.replacesHeaders ? authenticationAmong(own) : own),
      }),
    });
  };
  const served = { chat: at('chat'), responses: at('responses'), messages: at('messages') };
  return {
    id: 'copilot',
    models: (signal) => served.chat.models(signal),
    stream: (request, signal) => served[apiOf(request.model)].stream(request, signal),
  };
}

/** The API by which the service wants a model to be called; chat completions where it says nothing. */
export function copilotApiOf(model: ModelInfo | undefined): CopilotApi {
  const listed = property(model?.raw, 'supported_endpoints');
  if (!Array.isArray(listed) || listed.includes('/chat/completions')) return 'chat';
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

const apis = {
  chat: { wire: wires['copilot-chat'], path: '/chat/completions', headers: {} },
  responses: { wire: wires['openai-responses'], path: '/responses', headers: {} },
  messages: {
    wire: wires['anthropic-messages'],
    path: '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' },
  },
} as const;

function originHeaders(origin: CallOrigin): Headers {
  return {
    ...initiatorHeaders(origin),
    'x-interaction-id': origin.interactionId,
    'x-client-session-id': origin.sessionId,
  };
}
