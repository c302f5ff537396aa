import type { SessionNotification } from '@agentclientprotocol/sdk';
import type {
  Client,
  PermissionInvocation,
  PermissionRequest,
  ResumeSessionOptions,
  Session,
} from '@groundcrew/sdk';

/** All that the agent of an editor needs of the program around it. */
export interface EditorContext {
  readonly version: string;
  /** The way to the runtime. */
  readonly client: Client;
  /** What every session is opened with, besides what the editor says of it. */
  readonly defaults: ResumeSessionOptions;
  /** Called when a session was opened, before the editor uses it. */
  opened(session: Session): Promise<void>;
  /** Why no model service can be used; undefined when one can. */
  missingService(): Promise<string | undefined>;
  readonly approvals: EditorApprovals;
  /** Diagnostics, which never go to stdout. */
  warn(message: string): void;
}

/** What runs without a question, how a question is said, and where its answer is kept. */
export interface EditorApprovals {
  /** What the request is about, on one line and in full. */
  describeRequest(request: PermissionRequest): string;
  /** Runs without a question. */
  isAllowed(request: PermissionRequest, invocation: PermissionInvocation): boolean;
  /** The name under which approvals for the place of a session are kept. */
  place(session: Session | undefined): Promise<string>;
}

/** Something that the editor is shown of a session. */
export type Update = SessionNotification['update'];
