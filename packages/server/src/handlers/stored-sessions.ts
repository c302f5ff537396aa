import type { Methods } from '@groundcrew/protocol';
import { isSafeId, type SessionContext, StoreError } from '@groundcrew/store';
import { projected } from '../client-metadata.js';
import { Refusal } from '../failure.js';
import type { Handlers } from '../handler.js';
import { readPersisted } from '../persisted-events.js';
import { metadataOf } from '../session-metadata.js';

type Names = Exclude<
  Extract<keyof Methods, `sessions.${string}`>,
  | 'sessions.connect'
  | 'sessions.open'
  | `sessions.${string}RemoteControl${string}`
  | `sessions.${string}Plugin${string}`
  | 'sessions.loadDeferredRepoHooks'
>;

export const storedSessionsHandlers: Handlers<Pick<Methods, Names>> = {
  async 'sessions.save'({ sessionId }, { runtime }) {
    await runtime.find(sessionId)?.openLog?.stored();
    return {};
  },
  async 'sessions.getClientMetadata'({ sessionIds, keys }, { runtime }) {
    if (sessionIds.length > 1000) throw new Refusal(`At most 1000 sessions, not ${sessionIds.length}`);
    const entries = sessionIds.map(async (sessionId) => {
      try {
        const state = await runtime.stored.state(sessionId);
        if (!state) return { sessionId, status: 'notFound' as const };
        return {
          sessionId,
          status: 'ok' as const,
          metadata: projected(state.fixed.clientMetadata ?? {}, keys),
        };
      } catch (error) {
        if (error instanceof StoreError && error.kind === 'damaged')
          return { sessionId, status: 'corrupt' as const };
        throw error;
      }
    });
    return Promise.all(entries);
  },
  async 'sessions.readPersistedEvents'(params, { runtime }) {
    const [found] = await runtime.list({ sessionId: params.sessionId, includeEmpty: true });
    if (!found) throw new Refusal(`Session not found: ${params.sessionId}`);
    return readPersisted(params, runtime);
  },
  async 'sessions.getEventFilePath'({ sessionId }, { runtime }) {
    const [found] = await runtime.list({ sessionId, includeEmpty: true });
    if (!found) throw new Refusal(`Session not found: ${sessionId}`);
    return { filePath: await runtime.stored.writeEvents(sessionId) };
  },
  async 'sessions.getPersistedRemoteSteerable'() {
    return {};
  },
  async 'sessions.close'({ sessionId }, { runtime, client }) {
    if (await runtime.close(sessionId)) client.detached(sessionId);
    return {};
  },
  async 'sessions.releaseLock'({ sessionId }, { runtime }) {
    await runtime.find(sessionId)?.keeper.unload();
    return {};
  },
  async 'sessions.list'({ source = 'local', metadataLimit, filter }, { runtime }) {
    if (source === 'remote') return { sessions: [] };
    const all = await runtime.list({ context: contextOf(filter) });
    const limit = metadataLimit ?? all.length;
    const sessions = all.map((summary, index) => {
      const metadata = metadataOf(summary);
      if (index < limit) return metadata;
      const { sessionId, startTime, modifiedTime, isRemote, isDetached } = metadata;
      return { sessionId, startTime, modifiedTime, isRemote, isDetached };
    });
    return { sessions };
  },
  async 'sessions.listNonEmptySessionIds'(_params, { runtime }) {
    return { sessionIds: (await runtime.list()).map(({ sessionId }) => sessionId) };
  },
  async 'sessions.getMetadata'({ sessionId }, { runtime }) {
    const [found] = await runtime.list({ sessionId, includeEmpty: true });
    return found ? { session: metadataOf(found) } : {};
  },
  async 'sessions.enrichMetadata'({ sessions }, { runtime }) {
    const enriched = sessions.map(async (row) => {
      const [found] = await runtime.list({ sessionId: String(row.sessionId), includeEmpty: true });
      return { ...(found && metadataOf(found)), ...row };
    });
    return { sessions: await Promise.all(enriched) };
  },
  async 'sessions.findByPrefix'({ prefix }, { runtime }) {
    return idOf(await runtime.stored.findByPrefix(prefix));
  },
  async 'sessions.findByTaskId'() {
    return {};
  },
  async 'sessions.getLastForContext'({ context }, { runtime }) {
    return idOf(await runtime.stored.lastFor(contextOf(context)));
  },
  async 'sessions.checkInUse'({ sessionIds }, { runtime }) {
    return { inUse: [...(await runtime.stored.inUse(sessionIds))] };
  },
  async 'sessions.getSizes'(_params, { runtime }) {
    return { sizes: Object.fromEntries(await runtime.stored.sizes()) };
  },
  async 'sessions.delete'({ sessionId }, { runtime }) {
    if (!(await runtime.remove(sessionId))) throw new Refusal(`Session file not found for ${sessionId}`);
    return null;
  },
  async 'sessions.bulkDelete'({ sessionIds }, { runtime }) {
    return { freedBytes: Object.fromEntries(await runtime.stored.deleteAll(sessionIds)) };
  },
  async 'sessions.pruneOld'(params, { runtime }) {
    const bounds = [params.olderThanDays, params.keepNewest, params.mostBytes];
    if (bounds.every((bound) => bound === undefined)) throw new Refusal("missing parameter 'olderThanDays'");
    if (bounds.some((bound) => bound !== undefined && !(bound >= 0)))
      throw new Refusal('olderThanDays, keepNewest and mostBytes are numbers from 0 on');
    const { deleted, candidates, skipped, ...rest } = await runtime.stored.prune({
      olderThanDays: params.olderThanDays,
      keepNewest: params.keepNewest,
      mostBytes: params.mostBytes,
      dryRun: params.dryRun ?? false,
      includeNamed: params.includeNamed ?? false,
      excludeSessionIds: params.excludeSessionIds ?? [],
    });
    return { deleted: [...deleted], candidates: [...candidates], skipped: [...skipped], ...rest };
  },
  async 'sessions.search'({ query, limit }, { runtime }) {
    const found = await runtime.stored.search({
      words: query,
      limit: limit && Math.max(1, Math.floor(limit)),
    });
    return { sessions: found.map(({ summary, passage }) => ({ ...metadataOf(summary), passage })) };
  },
  async 'sessions.export'({ sessionId, path }, { runtime }) {
    return runtime.stored.exportTo({ sessionId, path });
  },
  async 'sessions.import'({ path, sessionId }, { runtime }) {
    if (sessionId !== undefined && !isSafeId(sessionId))
      throw new Refusal(`A session cannot have the id ${sessionId}`);
    const { warnings, ...imported } = await runtime.stored.importFrom({ path, sessionId });
    return { ...imported, warnings: [...warnings] };
  },
  async 'sessions.fork'({ sessionId, toEventId, name }, { runtime }) {
    return runtime.stored.fork({ from: sessionId, toEventId, name });
  },
};

function idOf(sessionId: string | undefined): { sessionId?: string } {
  return sessionId === undefined ? {} : { sessionId };
}

function contextOf(wanted: object | undefined): Partial<SessionContext> {
  const fields: ReadonlySet<string> = new Set(['cwd', 'gitRoot', 'repository', 'branch']);
  return Object.fromEntries(
    Object.entries(wanted ?? {}).filter(([name, value]) => fields.has(name) && typeof value === 'string'),
  );
}
