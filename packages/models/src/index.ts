export type { Environment } from '@groundcrew/http-client';
export { sentStyle } from './answer-style.js';
export { type CachedModelsOptions, withCachedModels } from './cached-models.js';
export { type KnownModel, knownModel, withKnown } from './catalog.js';
export { type CopilotApi, type CopilotConfig, copilotApiOf, copilotProvider } from './copilot.js';
export { copilotEndpoint, endpointOf, type ServiceEndpoint } from './endpoint.js';
export {
  describeDuration,
  describeFailure,
  ModelError,
  type ModelErrorDetails,
  type ModelErrorKind,
  restate,
} from './errors.js';
export type { Exchange, HttpRequest, HttpResponse, TimeLimits } from './exchange.js';
export { bounded } from './failure.js';
export { mergedHeaders } from './headers.js';
export { readText } from './http-answer.js';
export { isObject, parseReceived, property } from './json.js';
export { type KeyHold, type KeyLimiter, limitedByKey } from './key-limiter.js';
export type {
  AnswerStyle,
  CallOrigin,
  ChatMessage,
  EndReason,
  ImageLimits,
  KeptBlock,
  ModelEvent,
  ModelInfo,
  ModelProvider,
  ModelRequest,
  Part,
  ToolCall,
  ToolSpec,
  Usage,
} from './model.js';
export { type NodeExchangeOptions, nodeExchange } from './node-exchange.js';
export { costOf, type Price, type PriceList, priceList } from './prices.js';
export {
  configuredHeaders,
  configuredProvider,
  type GetBearerToken,
  type ProviderConfig,
  type ProviderContext,
  type ServiceContext,
} from './providers.js';
export {
  type FailedAttempt,
  forOneKey,
  maxRetries,
  type RetryOptions,
  type RetryPolicy,
  type StandardRetryOptions,
  standardRetryPolicy,
  withRetry,
} from './retry.js';
export { withoutValues } from './secrets.js';
export { SseReader } from './sse.js';
export type { AnswerDecoder, Wire, WireOptions } from './wire.js';
export { type KnownWire, requestBody, type WireName, wires } from './wires.js';
