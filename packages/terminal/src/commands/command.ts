import type { Client, Session } from '@groundcrew/sdk';
import type { Conversation } from '../conversation/conversation.js';
import type { SessionChoice } from '../terminal-context.js';
import type { Line } from '../text/span.js';

/** What a command may use. */
export interface CommandContext {
  readonly client: Client;
  readonly session: Session;
  readonly conversation: Conversation;
  /** What follows the name. */
  readonly args: string;
  readonly workingDirectory: string;
  print(...lines: readonly (Line | string)[]): void;
  /** Lets the user choose; undefined when nothing was chosen. */
  choose<T>(
    title: string,
    options: readonly { readonly label: string; readonly value: T }[],
  ): Promise<T | undefined>;
  /** Leaves the session for another. */
  open(choice: SessionChoice): Promise<void>;
  findSession(word: string): Promise<string>;
  /** Puts a text where the next prompt is written. */
  write(text: string): void;
  leave(): void;
}

/** Something one can say to the program itself. */
export interface Command {
  readonly usage: string;
  readonly help: string;
  /** What is entered after it is meant for the session that it opens. */
  readonly opensSession?: true;
  run(context: CommandContext): Promise<void>;
}

/** A sentence for the user: the command cannot do what it was asked for. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
