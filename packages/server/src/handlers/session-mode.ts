import type { Methods } from '@groundcrew/protocol';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

export const sessionModeHandlers: SessionHandlers<Pick<Methods, 'session.mode.get' | 'session.mode.set'>> = {
  async 'session.mode.get'(_params, { session }) {
    return (await session.state()).mode;
  },
  async 'session.mode.set'({ mode }, { session }) {
    const newMode = session.commands.modes.find((known) => known === mode);
    if (!newMode) {
      const expected = session.commands.modes.map((known) => `\`${known}\``).join(', ');
      throw new Refusal(`unknown variant \`${mode}\`, expected one of ${expected}`);
    }
    await session.commands.setMode(newMode);
    return { status: 'unchanged', modelChanged: false };
  },
};
