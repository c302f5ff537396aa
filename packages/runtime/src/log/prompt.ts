import type { JsonObject } from '@groundcrew/protocol';

/** A prompt that was acknowledged and that the model has not seen yet. */
export interface Prompt {
  readonly messageId: string;
  /** Set when the sender chose the id: what else came with it, in short, so that a second one can be compared. */
  readonly digest?: string;
  readonly text: string;
  readonly displayText?: string;
  readonly mode: 'enqueue' | 'immediate';
  /** A slash command for some client, not for the model. */
  readonly isCommand?: boolean;
  /** A client may have begun to run the command. */
  readonly isBegun?: boolean;
  readonly agentMode?: string;
  /** Autopilot made this prompt, to continue its work. */
  readonly isContinuation?: boolean;
  readonly source?: string;
  readonly attachments?: readonly JsonObject[];
  /** The form that its answer has to have. */
  readonly output?: AnswerFormat;
  /** Messages that came with it, to be read before it; the turn is one. */
  readonly earlier?: readonly EarlierMessage[];
  /** It has no words: the model goes on from what there is. */
  readonly isBare?: boolean;
}

/** A message that was sent together with the one that a turn answers. */
export type EarlierMessage = Pick<Prompt, 'messageId' | 'text' | 'displayText' | 'source' | 'attachments'>;

/** The form that an answer has to have. */
export interface AnswerFormat {
  readonly name: string;
  /** A JSON Schema. */
  readonly schema: JsonObject;
  /** How often the model was asked again. */
  readonly repairs: number;
}
