import { type AnyEvent, eventEnvelope, events, isDurable } from '@groundcrew/protocol';

/** What is wrong with these events of one session, in the order they came: shape, ids, chain. */
export function examineEvents(received: readonly AnyEvent[]): readonly string[] {
  return new EventExaminer().examine(received);
}

/** Examines the events of one session as they come, each once. */
export class EventExaminer {
  private readonly problems: string[] = [];
  private readonly seen = new Set<string>();
  private examined = 0;
  private lastStored: string | undefined;

  /** All that is wrong so far; `received` begins with the events of earlier calls. */
  examine(received: readonly AnyEvent[]): readonly string[] {
    for (; this.examined < received.length; this.examined += 1) {
      const event = received[this.examined];
      if (event) this.add(event);
    }
    return this.problems;
  }

  private add(event: AnyEvent): void {
    const say = (problem: string) => this.problems.push(`${event.type}: ${problem}`);
    for (const issue of issuesOf(event)) say(issue);
    if (this.seen.has(event.id)) say(`the id ${event.id} came before`);
    this.seen.add(event.id);
    if (event.type === 'session.start' && event.parentId !== null) say('the first event has a parent');
    // The log was cut: what comes next follows what is left.
    if (event.type === 'session.snapshot_rewind') this.lastStored = event.parentId ?? undefined;
    if (this.lastStored !== undefined && event.parentId !== this.lastStored)
      say(`its parent is ${event.parentId}, not ${this.lastStored}`);
    if (!event.ephemeral) this.lastStored = event.id;
  }
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
