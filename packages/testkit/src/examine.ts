import { type AnyEvent, eventEnvelope, events, isDurable } from '@groundcrew/protocol';

/** What is wrong with these events of one session, in the order they came: shape, ids, chain. */
export function examineEvents(received: readonly AnyEvent[]): readonly string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  let lastStored: string | undefined;
  for (const event of received) {
    const say = (problem: string) => problems.push(`${event.type}: ${problem}`);
    for (const issue of issuesOf(event)) say(issue);
    if (seen.has(event.id)) say(`the id ${event.id} came before`);
    seen.add(event.id);
    if (event.type === 'session.start' && event.parentId !== null) say('the first event has a parent');
    // The log was cut: what comes next follows what is left.
    if (event.type === 'session.snapshot_rewind') lastStored = event.parentId ?? undefined;
    if (lastStored !== undefined && event.parentId !== lastStored)
      say(`its parent is ${event.parentId}, not ${lastStored}`);
    if (!event.ephemeral) lastStored = event.id;
  }
  return problems;
}

function issuesOf(event: AnyEvent): readonly string[] {
  const envelope = eventEnvelope().safeParse(event);
  if (!envelope.success) return [envelope.error.message];
  if (!isKnown(event.type)) return ['this type is unknown'];
  const data = events[event.type].data().safeParse(event.data);
  if (!data.success) return [data.error.message];
  return !isDurable(event.type) && !event.ephemeral ? ['it should be ephemeral'] : [];
}

function isKnown(type: string): type is keyof typeof events {
  return Object.hasOwn(events, type);
}
