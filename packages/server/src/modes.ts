import type { SessionMode } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';

/** The modes a session may be in. */
export const modes: readonly SessionMode[] = ['interactive', 'plan', 'autopilot'];

/** Changes the mode; the same mode again is no event. */
export async function setMode(session: Session, newMode: SessionMode): Promise<void> {
  const { mode: previousMode } = await session.state();
  if (previousMode !== newMode)
    await session.record({ type: 'session.mode_changed', data: { previousMode, newMode } });
}
