import type * as z from 'zod/mini';
import type { Immutable } from '../json.js';
import { assistantEvents } from './assistant.js';
import { compactionEvents } from './compaction.js';
import type { Envelope } from './envelope.js';
import { hookEvents } from './hook.js';
import { hostEvents } from './host.js';
import { inputEvents } from './input.js';
import { mcpEvents } from './mcp.js';
import { permissionEvents } from './permission.js';
import { sessionEvents } from './session.js';
import { settingsEvents } from './settings.js';
import { skillEvents } from './skill.js';
import { subagentEvents } from './subagent.js';
import { toolEvents } from './tool.js';
import { usageEvents } from './usage.js';
import { userEvents } from './user.js';
import { workEvents } from './work.js';

/** Every event there is. Storage, broadcast, replay, types and documentation follow from it. */
export const events = {
  ...assistantEvents,
  ...compactionEvents,
  ...hookEvents,
  ...hostEvents,
  ...inputEvents,
  ...mcpEvents,
  ...permissionEvents,
  ...sessionEvents,
  ...settingsEvents,
  ...skillEvents,
  ...subagentEvents,
  ...toolEvents,
  ...usageEvents,
  ...userEvents,
  ...workEvents,
};

/** The table as a type. */
export type Events = typeof events;

/** The name of a known kind. */
export type EventType = keyof Events;

/** What an event of this kind says. */
export type EventData<K extends EventType> = Immutable<z.output<ReturnType<Events[K]['data']>>>;

/** A whole event of this kind, or of one of these. */
export type EventOf<K extends EventType> = { [T in K]: Envelope<T, EventData<T>> }[K];

/** Any known event, by its `type`. */
export type SessionEvent = EventOf<EventType>;

/** The kinds that enter the log. */
export type DurableType = { [K in EventType]: Events[K]['durable'] extends true ? K : never }[EventType];

/** The kinds that never do. */
export type EphemeralType = Exclude<EventType, DurableType>;

/** Whether events of this kind enter the log, unless one is sent as ephemeral. */
export function isDurable(type: EventType): type is DurableType {
  return events[type].durable;
}
