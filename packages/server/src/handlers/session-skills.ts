import type { Methods, Result } from '@groundcrew/protocol';
import { type Session, shownSkill } from '@groundcrew/runtime';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.skills.${string}`>;
type Invoked = Result<Methods['session.skills.getInvoked']>['skills'];

export const sessionSkillsHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.skills.list'(_params, { session }) {
    return { skills: (await session.skills.list()).map(shownSkill) };
  },
  async 'session.skills.getInvoked'(_params, { session }) {
    return { skills: await invokedIn(session) };
  },
  async 'session.skills.enable'({ name }, { session }) {
    await session.skills.turn(name, true);
    return null;
  },
  async 'session.skills.disable'({ name }, { session }) {
    await session.skills.turn(name, false);
    return null;
  },
  async 'session.skills.reload'(_params, { session: { skills } }) {
    await skills.refresh({ isForced: true });
    const { warnings, errors } = skills.diagnostics;
    return { warnings: [...warnings], errors: [...errors] };
  },
  async 'session.skills.ensureLoaded'(_params, { session }) {
    await session.skills.refresh();
    return null;
  },
};

/** What the log says of skills that were used; each once, as it was used last. */
async function invokedIn(session: Session): Promise<Invoked> {
  const invoked = new Map<string, Invoked[number]>();
  let turns = 0;
  for await (const records of session.read()) {
    for (const { type, json } of records) {
      if (type === 'user.message') turns += 1;
      if (type !== 'skill.invoked') continue;
      const { name, path, content, allowedTools } = JSON.parse(json).data as Invoked[number];
      const tools = allowedTools && { allowedTools };
      invoked.set(path, { name, path, content, ...tools, invokedAtTurn: Math.max(0, turns - 1) });
    }
  }
  return [...invoked.values()];
}
