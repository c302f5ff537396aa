import { randomUUID } from 'node:crypto';
import type { EventOf, SessionEvent } from '@groundcrew/protocol';
import { AsyncQueue } from '@groundcrew/rpc';
import { toError } from './errors.js';
import type { Session } from './session.js';
import type { MessageOptions } from './session-options.js';
import { stopTurn } from './stream-turn.js';
import { TurnText } from './turn-text.js';

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
  const turn = new Turn(session, message);
  const chunks = chunksOf(turn, signal);
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      // What the reader waited for may come only when the turn has been stopped.
      void chunks.return(undefined);
      await turn.stop();
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

async function* chunksOf(turn: Turn, signal: AbortSignal | undefined): AsyncGenerator<UIMessageChunk> {
  const parts = new Parts();
  const stop = () => void turn.stop();
  yield { type: 'start' };
  if (signal?.aborted) return yield { type: 'abort' };
  signal?.addEventListener('abort', stop, { once: true });
  try {
    for await (const event of turn.take()) yield* parts.of(event);
    yield* parts.close();
    if (signal?.aborted) yield { type: 'abort' };
    yield { type: 'finish' };
  } catch (error) {
    yield* parts.close();
    if (signal?.aborted) yield { type: 'abort' };
    else yield { type: 'error', errorText: toError(error).message };
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** The turn of one prompt: the events of the main agent from the prompt on. */
class Turn {
  private readonly message: UIPrompt & { readonly messageId: string };
  private readonly text: TurnText;
  private readonly events = new AsyncQueue<SessionEvent>();
  private stage: 'before' | 'during' | 'over' = 'before';

  constructor(
    private readonly session: Session,
    message: string | UIPrompt,
  ) {
    const given = typeof message === 'string' ? { prompt: message } : message;
    this.message = { ...given, messageId: given.messageId ?? randomUUID() };
    this.text = new TurnText(this.message.messageId);
  }

  /** Sends the prompt. The events end with its turn, also when other prompts wait. */
  take(): AsyncIterable<SessionEvent> {
    const { session, events, text } = this;
    this.stage = 'during';
    const stopListening = session.on((event) => {
      text.receive(event);
      if (text.isOver) events.end();
      else if (text.hasBegun && event.agentId === undefined) events.push(event);
    });
    session
      .sendAndWait(this.message, Number.POSITIVE_INFINITY)
      .then(
        (last) => {
          // A prompt that was sent before has had its turn already.
          if (!text.hasBegun && last) events.push(last);
          events.end();
        },
        (error: unknown) => events.fail(error),
      )
      .finally(() => {
        this.stage = 'over';
        stopListening();
      });
    return events;
  }

  /** Stops this turn, and no other: a prompt that waits is taken back. */
  async stop(): Promise<void> {
    const { session, text, events } = this;
    if (this.stage !== 'during' || text.isOver || session.isOver) return;
    const { hasBegun } = text;
    // It may have ended, or be gone.
    await stopTurn(session, this.message.messageId, hasBegun).catch(() => undefined);
    if (!hasBegun) events.end();
  }
}

/** What is open in the stream: each piece of text has a start and an end. */
class Parts {
  private readonly open = new Map<string, 'text' | 'reasoning'>();
  /** What the message says that is being written: an attempt that broke off is gone on with. */
  private text = new TurnText('', 'during');
  private readonly calls = new Set<string>();
  private isInStep = false;

  *of(event: SessionEvent): Generator<UIMessageChunk> {
    switch (event.type) {
      case 'assistant.turn_start':
        yield* this.closeStep();
        this.isInStep = true;
        yield { type: 'start-step' };
        break;
      case 'assistant.message_delta':
        yield* this.say(event);
        break;
      case 'assistant.reasoning_delta':
        yield* this.delta('reasoning', `reasoning-${event.data.reasoningId}`, event.data.deltaContent);
        break;
      case 'assistant.message':
        yield* this.whole(event);
        break;
      case 'tool.execution_start': {
        const { toolCallId, toolName, arguments: input } = event.data;
        this.calls.add(toolCallId);
        yield { type: 'tool-input-available', toolCallId, toolName, input: input ?? {}, dynamic: true };
        break;
      }
      case 'tool.execution_complete':
        this.calls.delete(event.data.toolCallId);
        yield ended(event.data);
        break;
      case 'assistant.turn_end':
        yield* this.closeStep();
        break;
      default:
    }
  }

  /** A call that was stopped has an end too: readers take one without for a call that still runs. */
  *close(): Generator<UIMessageChunk> {
    const errorText = 'The turn ended before the tool did';
    for (const toolCallId of this.calls)
      yield { type: 'tool-output-error', toolCallId, errorText, dynamic: true };
    this.calls.clear();
    yield* this.closeStep();
  }

  /** All attempts at a message are one piece of text. */
  private *say(event: EventOf<'assistant.message' | 'assistant.message_delta'>): Generator<UIMessageChunk> {
    const delta = this.text.receive(event);
    const open = [...this.open].find(([, kind]) => kind === 'text')?.[0];
    if (delta !== '') yield* this.delta('text', open ?? `text-${event.data.messageId}`, delta);
  }

  private *delta(kind: 'text' | 'reasoning', id: string, delta: string): Generator<UIMessageChunk> {
    if (!this.open.has(id)) {
      this.open.set(id, kind);
      yield { type: `${kind}-start`, id };
    }
    yield { type: `${kind}-delta`, id, delta };
  }

  /** What was not streamed comes now, in one piece. */
  private *whole(event: EventOf<'assistant.message'>): Generator<UIMessageChunk> {
    const { messageId, reasoningText } = event.data;
    const hasReasoned = [...this.open.values()].includes('reasoning');
    if (reasoningText && !hasReasoned)
      yield* this.delta('reasoning', `reasoning-${messageId}`, reasoningText);
    yield* this.say(event);
    this.text = new TurnText('', 'during');
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
