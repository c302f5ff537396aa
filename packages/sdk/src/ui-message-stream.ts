import { randomUUID } from 'node:crypto';
import type { SessionEvent } from '@groundcrew/protocol';
import { AsyncQueue } from '@groundcrew/rpc';
import { toError } from './errors.js';
import type { Session } from './session.js';
import type { MessageOptions } from './session-options.js';

/** A part of a stream that the `useChat` of the Vercel AI SDK reads. */
export type UIMessageChunk =
  | { readonly type: 'start'; readonly messageId?: string }
  | { readonly type: 'start-step' | 'finish-step' }
  | { readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; readonly id: string }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | {
      readonly type: 'tool-input-available';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
      readonly dynamic: true;
    }
  | {
      readonly type: 'tool-output-available';
      readonly toolCallId: string;
      readonly output: unknown;
      readonly dynamic: true;
    }
  | {
      readonly type: 'tool-output-error';
      readonly toolCallId: string;
      readonly errorText: string;
      readonly dynamic: true;
    }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'abort' }
  | { readonly type: 'finish' };

type UIPrompt = Omit<MessageOptions, 'output'>;

/**
 * Sends a prompt, and streams its turn as the Vercel AI SDK's UI messages: text, reasoning and tools of the main agent. With
 * `streaming: true` in the session's options text comes as it is written, else message by message. A signal aborts the turn.
 */
export function uiMessageStream(
  session: Session,
  message: string | UIPrompt,
  signal?: AbortSignal,
): ReadableStream<UIMessageChunk> {
  const chunks = chunksOf(session, message, signal);
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return(undefined);
      await session.abort().catch(() => undefined); // it may have ended, or be gone
    },
  });
}

/** The same as an answer of a server, for `DefaultChatTransport`: server-sent events of version 1. */
export function uiMessageResponse(
  session: Session,
  message: string | UIPrompt,
  signal?: AbortSignal,
): Response {
  const encoder = new TextEncoder();
  const frames = new TransformStream<UIMessageChunk, Uint8Array>({
    transform: (chunk, controller) =>
      controller.enqueue(encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`)),
    flush: (controller) => controller.enqueue(encoder.encode('data: [DONE]\n\n')),
  });
  return new Response(uiMessageStream(session, message, signal).pipeThrough(frames), {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-vercel-ai-ui-message-stream': 'v1',
    },
  });
}

async function* chunksOf(
  session: Session,
  message: string | UIPrompt,
  signal: AbortSignal | undefined,
): AsyncGenerator<UIMessageChunk> {
  const parts = new Parts();
  const abort = () => void session.abort().catch(() => undefined);
  signal?.addEventListener('abort', abort, { once: true });
  yield { type: 'start' };
  try {
    for await (const event of turnOf(session, message)) yield* parts.of(event);
    yield* parts.close();
    if (signal?.aborted) yield { type: 'abort' };
    yield { type: 'finish' };
  } catch (error) {
    yield* parts.close();
    if (signal?.aborted) yield { type: 'abort' };
    else yield { type: 'error', errorText: toError(error).message };
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** The events of the main agent from the prompt on, until its turn is over. */
function turnOf(session: Session, message: string | UIPrompt): AsyncIterable<SessionEvent> {
  const given = typeof message === 'string' ? { prompt: message } : message;
  const { messageId = randomUUID() } = given;
  const events = new AsyncQueue<SessionEvent>();
  let hasBegun = false;
  const stopListening = session.on((event) => {
    if (event.type === 'user.message' && event.data.messageId === messageId) hasBegun = true;
    if (hasBegun && event.agentId === undefined) events.push(event);
  });
  session
    .sendAndWait({ ...given, messageId }, Number.POSITIVE_INFINITY)
    .then(
      () => events.end(),
      (error: unknown) => events.fail(error),
    )
    .finally(stopListening);
  return events;
}

/** What is open in the stream: each piece of text has a start and an end. */
class Parts {
  private readonly open = new Map<string, 'text' | 'reasoning'>();
  private readonly streamed = new Set<string>();
  private isInStep = false;

  *of(event: SessionEvent): Generator<UIMessageChunk> {
    switch (event.type) {
      case 'assistant.turn_start':
        yield* this.closeStep();
        this.isInStep = true;
        yield { type: 'start-step' };
        break;
      case 'assistant.message_delta':
        yield* this.delta('text', `text-${event.data.messageId}`, event.data.deltaContent);
        break;
      case 'assistant.reasoning_delta':
        yield* this.delta('reasoning', `reasoning-${event.data.reasoningId}`, event.data.deltaContent);
        break;
      case 'assistant.message':
        yield* this.whole(event.data);
        break;
      case 'tool.execution_start': {
        const { toolCallId, toolName, arguments: input } = event.data;
        yield { type: 'tool-input-available', toolCallId, toolName, input: input ?? {}, dynamic: true };
        break;
      }
      case 'tool.execution_complete':
        yield ended(event.data);
        break;
      case 'assistant.turn_end':
        yield* this.closeStep();
        break;
      default:
    }
  }

  *close(): Generator<UIMessageChunk> {
    yield* this.closeStep();
  }

  private *delta(kind: 'text' | 'reasoning', id: string, delta: string): Generator<UIMessageChunk> {
    if (!this.open.has(id)) {
      this.open.set(id, kind);
      this.streamed.add(id);
      yield { type: `${kind}-start`, id };
    }
    yield { type: `${kind}-delta`, id, delta };
  }

  /** What was not streamed comes now, in one piece. */
  private *whole(data: {
    readonly messageId: string;
    readonly content: string;
    readonly reasoningText?: string | undefined;
  }): Generator<UIMessageChunk> {
    const hasReasoned = [...this.open.values()].includes('reasoning');
    if (data.reasoningText && !hasReasoned)
      yield* this.delta('reasoning', `reasoning-${data.messageId}`, data.reasoningText);
    const id = `text-${data.messageId}`;
    if (data.content !== '' && !this.streamed.has(id)) yield* this.delta('text', id, data.content);
    yield* this.closeText();
  }

  private *closeText(): Generator<UIMessageChunk> {
    for (const [id, kind] of this.open) yield { type: `${kind}-end`, id };
    this.open.clear();
  }

  private *closeStep(): Generator<UIMessageChunk> {
    yield* this.closeText();
    if (this.isInStep) yield { type: 'finish-step' };
    this.isInStep = false;
  }
}

function ended({
  toolCallId,
  success,
  result,
  error,
}: Extract<SessionEvent, { readonly type: 'tool.execution_complete' }>['data']): UIMessageChunk {
  if (success)
    return { type: 'tool-output-available', toolCallId, output: result?.content ?? '', dynamic: true };
  const errorText = error?.message ?? 'The tool failed';
  return { type: 'tool-output-error', toolCallId, errorText, dynamic: true };
}
