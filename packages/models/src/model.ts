import type { ModelError } from './errors.js';
import type { OutputFormat } from './output-format.js';

/** A piece of a message. What a wire cannot carry it leaves out or replaces by its description. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mimeType: string; readonly base64: string }
  | {
      readonly type: 'document';
      readonly mimeType: string;
      readonly base64: string;
      readonly name?: string;
    };

export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  /** The arguments exactly as the model wrote them; not always valid JSON. */
  readonly argumentsText: string;
}

/**
 * A piece of an answer that has to go back to its service letter by letter: a sealed or signed thought, a mark.
 * Only the wire that read it can write it; all others leave it out.
 */
export interface KeptBlock {
  readonly wire: string;
  /** How much of the answer came before it: the text counts as one, and so does each call. */
  readonly place: number;
  readonly block: Readonly<Record<string, unknown>>;
}

/** One message of a conversation, in no wire's tongue. */
export type ChatMessage =
  | { readonly role: 'user'; readonly parts: readonly Part[] }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly toolCalls: readonly ToolCall[];
      /** In the order in which they came; for the model that wrote them only. */
      readonly kept?: readonly KeptBlock[];
    }
  | { readonly role: 'tool'; readonly callId: string; readonly text: string };

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema object. */
  readonly inputSchema: unknown;
}

/** How an answer and what is shown of its thoughts are to be written. */
export interface AnswerStyle {
  readonly verbosity?: 'low' | 'medium' | 'high';
  readonly reasoningSummary?: 'none' | 'concise' | 'detailed';
}

export interface ModelRequest extends AnswerStyle {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolSpec[];
  /** Text for this one call, behind everything else, so that it is not part of the cached prefix. */
  readonly remark?: string;
  readonly toolChoice?: 'auto' | 'none';
  /** The form that the answer has to have, where the wire can say so. */
  readonly output?: OutputFormat;
  readonly stream: boolean;
  readonly reasoningEffort?: string;
  readonly maxOutputTokens?: number;
  /** Ask for citations of the documents, where the service supports them. */
  readonly citations?: boolean;
  /** Extra HTTP headers of this one call: per-turn request headers, trace context. They never replace authentication. */
  readonly headers?: Readonly<Record<string, string>>;
  /** They stand in the place of those that the service was configured with, authentication aside. */
  readonly replacesHeaders?: boolean;
  /** What the call is for; some services want to know. */
  readonly origin?: CallOrigin;
  /** Called when the call goes out, with the wire that writes it and the request as that wire gets it. */
  readonly sent?: (wire: string, request: ModelRequest) => void;
}

export interface CallOrigin {
  readonly sessionId: string;
  readonly interactionId: string;
  readonly clientName?: string;
  /** `user` for the first call after a user message, `agent` for every other one. */
  readonly initiator: 'user' | 'agent';
  readonly interactionType: string;
  /** Of a sub-agent: its id, and that of the agent that began it. */
  readonly agentId?: string;
  readonly parentAgentId?: string;
}

export interface Usage {
  /** All of the prompt, what the cache had of it included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** US dollars, where the service reports its own charge. */
  readonly billed?: number;
}

export type EndReason = 'stop' | 'tool_calls' | 'length' | 'refused';

export type ModelEvent =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  /** A piece of a call's arguments, while they stream. */
  | {
      readonly type: 'tool_call_delta';
      readonly callId: string;
      readonly name: string;
      readonly delta: string;
    }
  /** A whole call; comes after its deltas, if there were any. */
  | { readonly type: 'tool_call'; readonly call: ToolCall }
  /** What has to go back with the answer; comes when it is whole. */
  | { readonly type: 'kept'; readonly kept: KeptBlock }
  /** An attempt failed and is made again after `delayMs`: what it had yielded is void. Alone in its batch. */
  | { readonly type: 'retry'; readonly error: ModelError; readonly attempt: number; readonly delayMs: number }
  | {
      readonly type: 'end';
      readonly reason: EndReason;
      readonly usage: Usage;
      /** The name the service gave its model, and its own id for the call. */
      readonly model?: string;
      readonly responseId?: string;
      /** The id by which the service's operators find the call. */
      readonly requestId?: string;
    };

export interface ImageLimits {
  readonly most?: number;
  readonly largestBytes?: number;
  readonly types?: readonly string[];
}

export interface ModelInfo {
  readonly id: string;
  readonly name: string;
  readonly vision: boolean;
  /** How many images it takes at a time, how large and of which types; what is not named has no limit. */
  readonly images?: ImageLimits;
  /** Types of documents that it reads as they are. */
  readonly documents?: readonly string[];
  readonly contextWindow?: number;
  readonly maxPromptTokens?: number;
  readonly maxOutputTokens?: number;
  /** The reasoning efforts it takes; none for a model that does not, nothing where that is not known. */
  readonly reasoningEfforts?: readonly string[];
  readonly defaultReasoningEffort?: string;
  /** The service's own description, for clients that want all of it. */
  readonly raw?: Readonly<Record<string, unknown>>;
}

/** One model service. `stream` yields batches, in all exactly one `end`, last; every failure is thrown as a ModelError. */
export interface ModelProvider {
  readonly id: string;
  models(signal?: AbortSignal): Promise<readonly ModelInfo[]>;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelEvent[]>;
}
