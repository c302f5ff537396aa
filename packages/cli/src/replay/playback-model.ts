import { ModelError, type ModelErrorKind, type ModelEvent, type ModelProvider } from '@groundcrew/models';
import type { ModelAccess } from '@groundcrew/runtime';
import type { EventOf } from '@groundcrew/sdk';
import { entryOf } from '../flags/arguments.js';
import type { RecordedOutcome } from './recording.js';

/** What the played-back model needs of the replay around it. */
export interface ModelStage {
  /** Resolves when the outcome may happen. */
  ready(outcome: RecordedOutcome): Promise<void>;
  /** Stops the turn, as a client did then. */
  abort(reason: EventOf<'abort'>['data']['reason']): void;
}

/** A model that says what was recorded, call by call. */
export function playbackModel(
  outcomes: readonly RecordedOutcome[],
  { defaultModel, stage }: { readonly defaultModel: string; readonly stage: ModelStage },
): ModelAccess {
  let calls = 0;
  const provider: ModelProvider = {
    id: 'recording',
    models: async () => [],
    async *stream(_request, signal) {
      const outcome = outcomes[calls++];
      if (!outcome) throw new ModelError('configuration', 'The recording has no answer to this model call');
      await stage.ready(outcome);
      if (outcome.type === 'failure') throw failureOf(outcome.data);
      if (outcome.type === 'limit') throw new ModelError('rate_limit', 'The model was rate limited');
      if (outcome.type === 'answer') return yield eventsOf(outcome.data);
      stage.abort(outcome.data.reason);
      await aborted(signal);
    },
  };
  const info = (id: string) => ({ id, name: id, vision: true });
  const otherModel = () => modelAfterLimit(outcomes, calls);
  return { provider, defaultModel, info, otherModel, isCopilot: false };
}

/** The model that answered in the place of one that was rate limited: then, or whenever that was next. */
function modelAfterLimit(outcomes: readonly RecordedOutcome[], calls: number): string | undefined {
  const before = outcomes.slice(0, calls).findLastIndex(({ type }) => type === 'limit');
  const limit = before < 0 ? outcomes.findIndex(({ type }) => type === 'limit') : before;
  if (limit < 0) return undefined;
  const answer = outcomes.slice(limit).find(({ type }) => type === 'answer');
  return answer?.type === 'answer' ? answer.data.model : undefined;
}

/** Settles when the signal fires, with its reason. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function eventsOf(recorded: EventOf<'assistant.message'>['data']): readonly ModelEvent[] {
  const { content, reasoningText, toolRequests = [], outputTokens = 0, apiCallId } = recorded;
  return [
    ...(reasoningText ? [{ type: 'reasoning', delta: reasoningText } as const] : []),
    ...(content ? [{ type: 'text', delta: content } as const] : []),
    ...toolRequests.map(({ toolCallId, name, arguments: given }): ModelEvent => {
      const argumentsText = JSON.stringify(given ?? {});
      return { type: 'tool_call', call: { callId: toolCallId, name, argumentsText } };
    }),
    {
      type: 'end',
      reason: toolRequests.length > 0 ? 'tool_calls' : 'stop',
      usage: { inputTokens: 0, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
      ...(apiCallId !== undefined && { responseId: apiCallId }),
    },
  ];
}

const kinds: Readonly<Record<string, ModelErrorKind>> = {
  authorization: 'auth',
  quota: 'quota',
  rate_limit: 'rate_limit',
  configuration: 'configuration',
};

const retried =
  /^Failed to get response from the AI model; retried (\d+) times \(total retry wait time: ([\d.]+) seconds\)(?: \(Request-ID .*?\))? Last error: /;

/** The failure with this text. */
function failureOf({
  errorType,
  message,
  statusCode,
  providerCallId,
  errorCode,
}: EventOf<'session.error'>['data']): ModelError {
  const [lead = '', retries, waited] = retried.exec(message.replace(/^Execution failed: /, '')) ?? [];
  const status = statusCode === undefined ? '' : `${statusCode} `;
  const idMark = providerCallId === undefined ? '' : ` (Request ID: ${providerCallId})`;
  const last = message.replace(/^Execution failed: /, '').slice(lead.length);
  const words = last.startsWith(status) ? last.slice(status.length) : last;
  return new ModelError(
    entryOf(kinds, errorType) ?? 'bad_request',
    idMark !== '' && words.endsWith(idMark) ? words.slice(0, -idMark.length) : words,
    {
      statusCode,
      requestId: providerCallId,
      code: errorCode,
      ...(retries !== undefined && { retries: Number(retries), totalRetryWaitSeconds: Number(waited) }),
    },
  );
}
