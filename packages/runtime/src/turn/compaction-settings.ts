import type { CompactionSettings } from '../compaction/compactor.js';
import type { SessionState } from '../log/state.js';
import type { SessionSettings } from '../settings/session-settings.js';

/** A session, as far as its compaction goes by it. */
export interface CompactingSession {
  readonly currentSettings: SessionSettings;
  hasWorkspaceIn(state: SessionState): boolean;
}

/** When the session's conversation is summarised: where it has a directory, by the shares it was given. */
export function compactionSettings(session: CompactingSession, state: SessionState): CompactionSettings {
  const { background = 0.8, blocking = 0.95 } = session.currentSettings.compaction ?? {};
  return { isEnabled: session.hasWorkspaceIn(state), background, blocking };
}
