import type { SessionSettings } from '../settings/session-settings.js';
import type { Attachment } from './audience.js';
import type { ResumeChanges } from './resumption.js';

/** What a client opens a session with. */
export interface OpenRequest {
  readonly sessionId: string;
  /** What the session goes by from now on, made from what it went by before. */
  settings(before: SessionSettings | undefined): SessionSettings;
  readonly attachment: Attachment;
  /** What of the client's options has no effect. */
  readonly warnings: readonly string[];
}

/** What a client comes back with. */
export interface ResumeRequest extends OpenRequest {
  readonly changes: ResumeChanges;
  readonly continuePendingWork: boolean;
  readonly isSilent: boolean;
  readonly takeOver: boolean;
  /** Calls may run unasked although the client with the session's hooks is not attached. */
  readonly waivesHooks?: boolean;
}
