import { story, type WireSession } from '@groundcrew/testkit';

/** What users were asked in a turn that they let run. */
export async function asked(
  session: WireSession,
  prompt: string,
  decision: object = { kind: 'approve-once' },
) {
  const events = await allowing(session, prompt, decision);
  return story(events).filter((line) => line.startsWith('permission.requested')).length;
}

async function allowing(session: WireSession, prompt: string, decision: object) {
  const from = session.events.length;
  await session.send(prompt);
  const idle = session.untilIdle();
  let answered = 0;
  for (let isIdle = false; !isIdle; ) {
    await new Promise((resolve) => setImmediate(resolve));
    const events = session.events.slice(from);
    isIdle = events.some(({ type }) => type === 'session.idle');
    const questions = events.filter(({ type }) => type === 'permission.requested');
    for (const { data } of questions.slice(answered))
      await session.decide((data as { requestId: string }).requestId, decision);
    answered = questions.length;
  }
  await idle;
  return session.events.slice(from);
}
