import type { Client, ConnectionLost, Reconnected, ResumeSessionOptions, Session } from '@groundcrew/sdk';
import type { HandlerParts } from './ask/handlers.js';
import type { ThemeName } from './text/theme.js';

/** Which session is opened. */
export type SessionChoice =
  /** The one that the command line asks for. */
  | { readonly type: 'first' }
  | { readonly type: 'new' }
  | { readonly type: 'resume'; readonly sessionId: string };

/** What is known of the connection to the runtime. */
export interface ConnectionWatch {
  onConnectionLost(lost: ConnectionLost): void;
  onReconnected(reconnected: Reconnected): void;
  /** What users should know. */
  onWarning(message: string): void;
}

/** A session, and whether anything came before. */
export interface OpenedSession {
  readonly session: Session;
  readonly isNew: boolean;
}

/** Why the program is asked to end. */
export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGPIPE';

/** All that the user interface needs of the program around it. */
export interface TerminalContext {
  readonly version: string;
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  /** Where the user is. */
  readonly workingDirectory: string;
  readonly theme: ThemeName;
  /** Whether the terminal wraps what is on it anew when its width changes. */
  readonly reflows: boolean;
  /** Where earlier prompts are kept. */
  readonly historyFile: string | undefined;
  /** What a prompt or an answer must not show. */
  redact(text: string): string;
  openClient(watch: ConnectionWatch): Promise<{ readonly client: Client; close(): Promise<void> }>;
  openSession(client: Client, choice: SessionChoice, options: ResumeSessionOptions): Promise<OpenedSession>;
  /** The id of the session that a user means by a word. */
  findSession(client: Client, word: string): Promise<string>;
  /** What can be approved in a session that works in this directory. */
  approvals(session: () => Session | undefined): HandlerParts['approvals'];
  /** The model that answers when the runtime names none. */
  readonly usualModel: string | undefined;
  onStop(handler: (signal: StopSignal) => void): () => void;
  readonly exitCodes: Readonly<Record<'done' | 'failed' | StopSignal, number>>;
}
