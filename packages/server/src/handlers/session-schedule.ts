import type { Methods } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { requirePromptSize } from '../content-sizes.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.schedule.${string}`>;

export const sessionScheduleHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.schedule.list'(_params, { session }) {
    return { entries: (await session.schedules.list()).map(entryOf) };
  },
  async 'session.schedule.stop'({ id }, { session }) {
    const stopped = await session.schedules.stop(id);
    return stopped ? { entry: entryOf(stopped) } : {};
  },
  'session.schedule.add': (request, { session }) => add(session, request),
  'session.schedule.addCron': (request, { session }) => add(session, request),
  'session.schedule.addAt': ({ at = Number.NaN, ...request }, { session }) =>
    add(session, { ...request, at }),
};

type ScheduleRequest = Parameters<Session['schedules']['add']>[0];

async function add(session: Session, request: ScheduleRequest) {
  requirePromptSize(request.prompt, []);
  const made = await session.schedules.add(request);
  return typeof made === 'string' ? { error: made } : { entry: entryOf(made) };
}

function entryOf(schedule: Awaited<ReturnType<Session['schedules']['list']>>[number]) {
  return { ...schedule, nextRunAt: new Date(schedule.nextRunAt).toISOString() };
}
