import type { SessionMode } from '@groundcrew/protocol';
import type { Draft } from '../log/session-log.js';
import type { SessionState } from '../log/state.js';

/** The modes a session may be in. */
export const sessionModes: readonly SessionMode[] = ['interactive', 'plan', 'autopilot'];

/** A session whose mode can be changed. */
export interface ModeSession {
  state(): Promise<SessionState>;
  record(...drafts: readonly Draft[]): Promise<unknown>;
}

/** Changes the mode; the same mode again is no event. */
export async function setMode(session: ModeSession, newMode: SessionMode): Promise<void> {
  const { mode: previousMode } = await session.state();
  if (previousMode !== newMode)
    await session.record({ type: 'session.mode_changed', data: { previousMode, newMode } });
}
