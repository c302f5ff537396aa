import type { SessionLog } from '../log/session-log.js';
import type { Audience } from './audience.js';

/** Lets a client come or go, and tells the others which commands and forms came or went with it. */
export function announceChange<T>(audience: Audience, log: SessionLog | undefined, change: () => T): T {
  const before = { commands: namesOf(audience), showsForms: audience.showsForms };
  const result = change();
  if (namesOf(audience) !== before.commands)
    log?.emit({ type: 'commands.changed', data: { commands: audience.commands() } });
  if (audience.showsForms !== before.showsForms)
    log?.emit({ type: 'capabilities.changed', data: { ui: { elicitation: audience.showsForms } } });
  return result;
}

function namesOf(audience: Audience): string {
  return JSON.stringify(audience.commands());
}
