import type { EventData, Methods } from '@groundcrew/protocol';
import { refuse } from '../failure.js';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

type Mode = EventData<'session.mode_changed'>['newMode'];

const modes: readonly Mode[] = ['interactive', 'plan', 'autopilot'];

export const sessionModeHandlers: Handlers<Pick<Methods, 'session.mode.get' | 'session.mode.set'>> = {
  async 'session.mode.get'({ sessionId }, context) {
    return (await findSession('session.mode.get', sessionId, context).state()).mode;
  },
  async 'session.mode.set'({ sessionId, mode }, context) {
    const session = findSession('session.mode.set', sessionId, context);
    const newMode = modes.find((known) => known === mode);
    if (!newMode) {
      const expected = modes.map((known) => `\`${known}\``).join(', ');
      throw refuse('session.mode.set', `unknown variant \`${mode}\`, expected one of ${expected}`);
    }
    const { mode: previousMode } = await session.state();
    if (previousMode !== newMode)
      await session.record({ type: 'session.mode_changed', data: { previousMode, newMode } });
    return { status: 'unchanged', modelChanged: false };
  },
};
