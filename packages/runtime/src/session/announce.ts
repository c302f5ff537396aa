import { isDeepStrictEqual } from 'node:util';
import type { SessionLog } from '../log/session-log.js';
import type { ListedTools } from '../tools/tool-source.js';
import type { Planner } from '../turn/planner.js';
import type { Audience } from './audience.js';

/** Lets a client come or go, and sends the others which tools, commands and forms came or went with it. */
export function announceChange<T>(
  {
    audience,
    planner,
    sources,
    announcesTools,
    log,
  }: {
    readonly audience: Audience;
    readonly planner: Planner;
    /** Tools that depend on who is attached. */
    readonly sources: readonly ListedTools[];
    /** Other tools are worth an event of their own. */
    readonly announcesTools: boolean;
    /** Absent while the session is not in memory. */
    readonly log: SessionLog | undefined;
  },
  change: () => T,
): T {
  const before = contributions(audience);
  const result = change();
  const after = contributions(audience);
  for (const source of sources) source.changed();
  if (!log) return result;
  if (!isDeepStrictEqual(after.commands, before.commands))
    log.emit({ type: 'commands.changed', data: { commands: after.commands } });
  if (after.showsForms !== before.showsForms)
    log.emit({ type: 'capabilities.changed', data: { ui: { elicitation: after.showsForms } } });
  if (announcesTools && !isDeepStrictEqual(after.tools, before.tools))
    log.emit({ type: 'session.tools_updated', data: { model: planner.model(log.state) } });
  return result;
}

function contributions(audience: Audience) {
  const { showsForms } = audience;
  return { showsForms, tools: audience.tools(), commands: audience.commands() };
}
