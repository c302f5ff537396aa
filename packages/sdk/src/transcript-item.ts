import type { EventData } from '@groundcrew/protocol';

/** A prompt, as it joined the conversation. */
export interface TranscriptPrompt {
  readonly type: 'prompt';
  readonly id: string;
  readonly text: string;
  /** Who sent it, where that is not the user. */
  readonly source?: string;
  readonly attachments: EventData<'user.message'>['attachments'] & {};
}

/** One answer of the model. */
export interface TranscriptMessage {
  readonly type: 'message';
  readonly id: string;
  readonly text: string;
  readonly reasoning?: string;
  readonly model?: string;
}

/** One tool call. */
export interface TranscriptTool {
  readonly type: 'tool';
  readonly id: string;
  readonly name: string;
  readonly arguments?: unknown;
  /** A short form of the arguments for a line on a screen, where the runtime has one. */
  readonly display?: string;
  readonly state: 'running' | 'succeeded' | 'failed' | 'interrupted';
  readonly isUserRequested: boolean;
  /** The result; while the tool runs, all its output so far. */
  readonly output?: string;
  /** What users are shown of the result, where that differs: the diff of an edit. */
  readonly details?: string;
  /** Why it failed. */
  readonly error?: string;
  /** The latest line of progress, while it runs. */
  readonly progress?: string;
}

/** A line beside the conversation. */
export interface TranscriptNotice {
  readonly type: 'notice';
  readonly id: string;
  readonly level: 'info' | 'warning' | 'error';
  /** The runtime's own name for what it is about. */
  readonly kind: string;
  readonly text: string;
  /** It is in no log: a screen that replays one does not show it. */
  readonly isEphemeral: boolean;
}

/** One entry of a conversation, in the order of the log. */
export type TranscriptItem = TranscriptPrompt | TranscriptMessage | TranscriptTool | TranscriptNotice;

/** What one agent has done: the main one, or a sub-agent. */
export interface TranscriptAgent {
  /** Undefined for the main agent. */
  readonly id?: string;
  readonly name?: string;
  readonly displayName?: string;
  /** The agent that started it, and the call that did; undefined for children of the main agent, and for that itself. */
  readonly parentId?: string;
  readonly toolCallId?: string;
  readonly state: 'running' | 'completed' | 'failed' | 'interrupted';
  readonly error?: string;
  /** When it began. */
  readonly startedAt?: string;
  /** What its model calls took: so far, as far as this screen was there, and in all when it has ended. */
  readonly tokens?: number;
  /** How long it worked, when it has ended. */
  readonly milliseconds?: number;
  readonly items: readonly TranscriptItem[];
  /** A model call is open, or the tools it asked for are. */
  readonly isTurnOpen: boolean;
  /** The answer that is arriving; it becomes an item when it is whole. */
  readonly streaming?: { readonly id: string; readonly text: string; readonly reasoning: string };
  /** Why the last attempt of the open model call failed. */
  readonly retry?: string;
}
