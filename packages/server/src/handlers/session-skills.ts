import type { Methods, Result } from '@groundcrew/protocol';
import { type Session, shownSkill } from '@groundcrew/runtime';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.skills.${string}`>;
type Invoked = Result<Methods['session.skills.getInvoked']>['skills'];

export const sessionSkillsHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.skills.list'({ sessionId }, context) {
    const { skills } = findSession('session.skills.list', sessionId, context);
    return { skills: (await skills.list()).map(shownSkill) };
  },
  async 'session.skills.getInvoked'({ sessionId }, context) {
    return { skills: await invokedIn(findSession('session.skills.getInvoked', sessionId, context)) };
  },
  async 'session.skills.enable'({ sessionId, name }, context) {
    await findSession('session.skills.enable', sessionId, context).skills.turn(name, true);
    return null;
  },
  async 'session.skills.disable'({ sessionId, name }, context) {
    await findSession('session.skills.disable', sessionId, context).skills.turn(name, false);
    return null;
  },
  async 'session.skills.reload'({ sessionId }, context) {
    const { skills } = findSession('session.skills.reload', sessionId, context);
    await skills.refresh({ isForced: true });
    const { warnings, errors } = skills.diagnostics;
    return { warnings: [...warnings], errors: [...errors] };
  },
  async 'session.skills.ensureLoaded'({ sessionId }, context) {
    await findSession('session.skills.ensureLoaded', sessionId, context).skills.refresh();
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
