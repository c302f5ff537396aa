import { isDeepStrictEqual } from 'node:util';
import { discoveredOf } from '../canvases/session-canvases.js';
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
  if (after.rendersCanvases !== before.rendersCanvases)
    log.emit({ type: 'capabilities.changed', data: { ui: { canvases: after.rendersCanvases } } });
  if (!isDeepStrictEqual(after.canvases, before.canvases))
    announceCanvases(after.canvases, before.canvases, log);
  if (announcesTools && !isDeepStrictEqual(after.tools, before.tools))
    log.emit({ type: 'session.tools_updated', data: { model: planner.model(log.state) } });
  return result;
}

function contributions(audience: Audience) {
  const { showsForms, rendersCanvases } = audience;
  const canvases = audience.canvasProviders().flatMap(discoveredOf);
  return { showsForms, rendersCanvases, canvases, tools: audience.tools(), commands: audience.commands() };
}

type Canvases = ReturnType<typeof contributions>['canvases'];

/** Which canvases one may open now, and which open ones lost the client behind them. */
function announceCanvases(after: Canvases, before: Canvases, log: SessionLog): void {
  log.emit({ type: 'session.canvas.registry_changed', data: { canvases: [...after] } });
  for (const { instanceId, extensionId, canvasId } of Object.values(log.state.canvases ?? {})) {
    const had = before.some((canvas) => canvas.canvasId === canvasId);
    if (had && !after.some((canvas) => canvas.canvasId === canvasId))
      log.emit({ type: 'session.canvas.unavailable', data: { instanceId, extensionId, canvasId } });
  }
}
