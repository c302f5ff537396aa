import type { Part } from '@groundcrew/models';
import type { JsonObject } from '@groundcrew/protocol';
import type { SessionState } from './state.js';

/** A prompt that was acknowledged and that the model has not seen yet. */
export interface Prompt {
  readonly messageId: string;
  readonly text: string;
  readonly displayText?: string;
  readonly mode: 'enqueue' | 'immediate';
  readonly agentMode?: string;
  readonly source?: string;
  readonly attachments?: readonly JsonObject[];
}

/** The private records: what a session must remember and nobody outside is told. A closed list. */
export interface Notes {
  'call.intended': { readonly toolCallId: string; readonly attempt: number };
  'call.interrupted': { readonly toolCallId: string };
  'history.cut': { readonly fromEventId: string };
  'prompt.admitted': Prompt;
  'prompt.withdrawn': { readonly messageId: string };
  'settings.fixed': Partial<FixedSettings>;
  snapshot: { readonly state: SessionState };
  verbatim: Verbatim;
}

/** What the session itself keeps of its settings; everything else comes with the client that opens it. */
export interface FixedSettings {
  readonly name: string;
  readonly isNamedByUser: boolean;
  readonly clientName: string;
}

/** What the model wrote or was told, letter by letter, where the public event that follows says it otherwise. */
export interface Verbatim {
  /** The tool call or the prompt it belongs to. */
  readonly id: string;
  readonly text: string;
  /** What comes after the text: images, documents. */
  readonly parts?: readonly Part[];
}

export type NoteType = keyof Notes;

/** One private record to be written. */
export type NoteDraft = { [K in NoteType]: { readonly note: K; readonly data: Notes[K] } }[NoteType];
