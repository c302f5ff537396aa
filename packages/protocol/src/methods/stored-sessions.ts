import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, number, text, texts } from '../fields.js';
import { nothing as noResult, once, openEnum, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { sessionRef } from './session-ref.js';

const done = once(() => openObject({}));

const foundSession = once(() => openObject({ sessionId: z.optional(z.string()) }));

const sessionContext = once(() =>
  sparseObject({ cwd: text, gitRoot: text, repository: text, branch: text, hostType: text }),
);

/** Sessions as they are stored, open or not: found, copied, measured, closed, removed. */
export const storedSessionsMethods = {
  'sessions.bulkDelete': method(
    'Deletes sessions and says what each of them took; one that is unknown or in use frees nothing.',
    () => openObject({ sessionIds: z.array(z.string()) }),
    () => openObject({ freedBytes: z.record(z.string(), z.number()) }),
  ),
  'sessions.checkInUse': method(
    'Those of the sessions that another live process has open.',
    () => openObject({ sessionIds: z.array(z.string()) }),
    () => openObject({ inUse: z.array(z.string()) }),
  ),
  'sessions.close': method(
    'Closes a session for all of its clients; what is stored stays. One that is not open is no error.',
    sessionRef,
    done,
  ),
  'sessions.delete': method('Deletes a session; an unknown one is an error.', sessionRef, noResult),
  'sessions.enrichMetadata': method(
    'The same rows, with what is stored of the sessions where they say nothing.',
    () => openObject({ sessions: z.array(z.record(z.string(), z.unknown())) }),
    () => openObject({ sessions: z.array(z.record(z.string(), z.unknown())) }),
  ),
  'sessions.export': method(
    'Writes a session into a directory of its id below `path`, in the layout of other tools: events.jsonl, workspace.yaml, checkpoints, files, plan.md. What is there already is not touched.',
    () => sparseObject({}, { sessionId: text, path: text }),
    () => openObject({ directory: z.string(), events: z.number() }),
  ),
  'sessions.findByPrefix': method(
    'The one session whose id begins like this; `{}` when there is none, or more than one.',
    () => openObject({ prefix: z.string() }),
    foundSession,
  ),
  'sessions.findByTaskId': method(
    'The session of a task of GitHub; none is ever bound to one here.',
    () => openObject({ taskId: z.string() }),
    foundSession,
  ),
  'sessions.fork': method(
    'Makes a session that goes its own way from another one, up to an event, which is no part of it.',
    () => sparseObject({ toEventId: text, name: text }, { sessionId: text }),
    () => openObject({ sessionId: z.string(), name: z.optional(z.string()) }),
  ),
  'sessions.getLastForContext': method(
    'The newest session of those that worked most nearly there.',
    () => sparseObject({ context: sessionContext }),
    foundSession,
  ),
  'sessions.getMetadata': method('What a list would say of one session.', sessionRef, () =>
    openObject({ session: z.optional(z.record(z.string(), z.unknown())) }),
  ),
  'sessions.getSizes': method(
    'Bytes that each session takes.',
    () => openObject({}),
    () => openObject({ sizes: z.record(z.string(), z.number()) }),
  ),
  'sessions.import': method(
    'Reads a session of such a directory, or of a file of events as lines of JSON; it can be resumed then. It keeps its id unless another is given.',
    () => sparseObject({ sessionId: text }, { path: text }),
    () => openObject({ sessionId: z.string(), events: z.number(), warnings: z.array(z.string()) }),
  ),
  'sessions.list': method(
    'Sessions, the newest first; `metadataLimit` of them with all that is known.',
    () =>
      sparseObject({
        source: () => openEnum(['local', 'remote', 'all']),
        metadataLimit: number,
        filter: sessionContext,
        includeDetached: flag,
        throwOnError: flag,
      }),
    () => openObject({ sessions: z.array(z.record(z.string(), z.unknown())) }),
  ),
  'sessions.listNonEmptySessionIds': method(
    'The sessions with at least one prompt.',
    () => openObject({}),
    () => openObject({ sessionIds: z.array(z.string()) }),
  ),
  'sessions.pruneOld': method(
    'Deletes old sessions, or says which ones it would: by age, all but the newest, or all that is too much together. Named ones and those in use stay.',
    () =>
      sparseObject({
        olderThanDays: number,
        keepNewest: number,
        mostBytes: number,
        dryRun: flag,
        includeNamed: flag,
        excludeSessionIds: texts,
      }),
    () =>
      openObject({
        deleted: z.array(z.string()),
        candidates: z.array(z.string()),
        skipped: z.array(z.string()),
        freedBytes: z.number(),
        dryRun: z.boolean(),
      }),
  ),
  'sessions.releaseLock': method(
    'Lets other processes have a session that is idle here; clients stay attached.',
    sessionRef,
    done,
  ),
  'sessions.getClientMetadata': method(
    'What clients keep with sessions, open or not, in the order they are named; some of it, where keys are given.',
    () => sparseObject({ keys: texts }, { sessionIds: texts }),
    () =>
      z.array(
        openObject({
          sessionId: z.string(),
          status: z.enum(['ok', 'notFound', 'corrupt']),
          metadata: z.optional(z.record(z.string(), z.string())),
        }),
      ),
  ),
  'sessions.readPersistedEvents': method(
    'A page of stored events of a session, open or not.',
    () =>
      sparseObject(
        { cursor: text, max: number, direction: () => z.enum(['forward', 'backward']) },
        { sessionId: text },
      ),
    () =>
      openObject({
        events: z.array(z.unknown()),
        cursor: z.string(),
        hasMore: z.boolean(),
        cursorStatus: z.enum(['ok', 'expired']),
      }),
  ),
  'sessions.getEventFilePath': method(
    'Writes the events that are stored now to a file, one a line, and says where it is.',
    sessionRef,
    () => openObject({ filePath: text() }),
  ),
  'sessions.getPersistedRemoteSteerable': method(
    'Whether a session was to be steered from elsewhere: none ever is, so nothing is said.',
    sessionRef,
    () => openObject({ remoteSteerable: z.optional(z.boolean()) }),
  ),
  'sessions.save': method('Answers when all of a session is stored, as it always is soon.', sessionRef, done),
  'sessions.search': method(
    'Sessions in which words stand, the best first, with the passage that says most of them; at most 20 unless `limit` says otherwise. Of a query its first 100 different words count.',
    () => sparseObject({ limit: number }, { query: text }),
    () => openObject({ sessions: z.array(z.record(z.string(), z.unknown())) }),
  ),
};
