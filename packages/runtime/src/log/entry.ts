import type { LogRecord } from '@groundcrew/store';
import type { Entry } from './fold.js';
import type { NoteDraft, NoteType } from './notes.js';

/** A stored record, opened. What this session wrote is trusted. */
export function entryOf({ seq, type, isPublic, json }: LogRecord): Entry {
  const body = JSON.parse(json);
  if (isPublic) return { seq, event: body };
  // Of these, the agent is what they are about, not who wrote them.
  if (aboutAgents.has(type)) return { seq, note: type, data: body } as Entry;
  const { agentId, ...data } = body;
  return { seq, note: type, data, ...(agentId !== undefined && { agentId }) } as Entry;
}

const aboutAgents: ReadonlySet<string> = new Set<NoteType>([
  'agent.started',
  'agent.changed',
  'agent.messaged',
  'agent.removed',
]);

/** A private record as it is stored: its agent stands among its fields, as it does in events. */
export function noteJson({ data, agentId }: NoteDraft): string {
  return JSON.stringify(agentId === undefined ? data : { agentId, ...data });
}
