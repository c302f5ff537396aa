import type { EventData, Methods } from '@groundcrew/protocol';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

type Mode = EventData<'session.mode_changed'>['newMode'];

const modes: readonly Mode[] = ['interactive', 'plan', 'autopilot'];

export const sessionModeHandlers: SessionHandlers<Pick<Methods, 'session.mode.get' | 'session.mode.set'>> = {
  async 'session.mode.get'(_params, { session }) {
    return (await session.state()).mode;
  },
  async 'session.mode.set'({ mode }, { session }) {
    const newMode = modes.find((known) => known === mode);
    if (!newMode) {
      const expected = modes.map((known) => `\`${known}\``).join(', ');
      throw new Refusal(`unknown variant \`${mode}\`, expected one of ${expected}`);
    }
    const { mode: previousMode } = await session.state();
    if (previousMode !== newMode)
      await session.record({ type: 'session.mode_changed', data: { previousMode, newMode } });
    return { status: 'unchanged', modelChanged: false };
  },
};
