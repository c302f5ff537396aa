import * as z from 'zod/mini';
import { method } from '../define.js';
import { anything, flag, text, textOrNull } from '../fields.js';
import { nodeWait } from '../node-wait.js';
import { once, openEnum, openObject } from '../schema.js';
import { sessionConfig } from '../session-config.js';
import { sessionMode } from '../settings.js';
import { sparseObject } from '../sparse-object.js';
import { sessionRef } from './session-ref.js';

/** Sessions from outside: made, opened, found, removed. */
export const sessionsMethods = {
  'session.create': method(
    'Makes a session and attaches this client; an id in use gives the live session.',
    // The handler checks the id's characters, model, agent, directory and tool names: each has a text of its own.
    () => sparseObject({ sessionId: text, ...sessionConfig() }),
    () => openedSession(),
  ),
  'session.delete': method('Closes a session and removes all of it.', sessionRef, () =>
    openObject({ success: z.boolean(), error: z.optional(z.string()) }),
  ),
  'session.getForeground': method(
    'The session a terminal shows, if one runs here.',
    () => openObject({}),
    () => openObject({ sessionId: z.optional(z.string()) }),
  ),
  'session.getLastId': method(
    'The session that changed last.',
    () => openObject({}),
    () => openObject({ sessionId: z.optional(z.string()) }),
  ),
  'session.getMetadata': method('One session as a list shows it; `{}` when unknown.', sessionRef, () =>
    openObject({ session: z.optional(sessionMetadata()) }),
  ),
  'session.list': method(
    'Sessions with at least one prompt, the newest first.',
    () => sparseObject({ filter: sessionFilter }),
    () => openObject({ sessions: z.array(sessionMetadata()) }),
  ),
  'session.resume': method(
    'Attaches this client to a session, live or stored; its settings and tools replace those it gave before.',
    () =>
      sparseObject({
        // May be missing, for the handler to answer `Missing sessionId parameter`.
        sessionId: text,
        ...sessionConfig(),
        /** True: no `session.resume` event. */
        disableResume: flag,
        /** True: open questions stay answerable under their old ids, and prompts that wait are run. */
        continuePendingWork: flag,
        /** True: takes the session even from a live process that works in it. */
        takeOver: flag,
        /** Calls may run unasked although the client with the session's hooks is not attached. */
        waiveHooks: flag,
        factories: () => z.array(openObject({ name: z.string(), description: z.nullish(z.string()) })),
        /** Factories under their new name. */
        workflows: () =>
          z.array(
            openObject({
              name: z.string(),
              description: z.nullish(z.string()),
              phases: z.optional(z.array(openObject({ title: z.string(), detail: z.nullish(z.string()) }))),
            }),
          ),
        requestedEnvironmentVariables: anything,
      }),
    () => openedSession(),
  ),
  'sessions.open': method(
    'Makes a session, or attaches to one that is found: by its id, as the last one, or as one that is open.',
    () =>
      sparseObject({
        /** Without one nothing is found. */
        kind: text,
        sessionId: text,
        options: () => sparseObject({ sessionId: text, ...sessionConfig() }),
        context: () => sparseObject({ cwd: text, gitRoot: text, repository: text, branch: text }),
        emitStart: flag,
        resume: flag,
        suppressResumeWorkspaceMetadataWriteback: flag,
      }),
    () =>
      openObject({
        status: openEnum(['created', 'resumed', 'not_found', 'connected', 'handed_off']),
        sessionId: z.optional(z.string()),
        startupPrompts: z.optional(z.array(z.string())),
      }),
  ),
  'session.setForeground': method('Shows a session in the terminal.', sessionRef, () =>
    openObject({ success: z.boolean(), error: z.optional(z.string()) }),
  ),
};

const openedSession = once(() =>
  openObject({
    sessionId: z.string(),
    nativeSessionId: z.string(),
    startTime: z.string(),
    isRemote: z.boolean(),
    mode: sessionMode(),
    /** Absent for a session without a directory of its own. */
    workspacePath: z.optional(z.string()),
    capabilities: openObject({
      ui: openObject({ elicitation: z.boolean(), mcpApps: z.boolean(), canvases: z.boolean() }),
      extensions: z.boolean(),
    }),
    /** Options that have no effect; each is a `session.warning` too, at the next prompt. */
    warnings: z.optional(z.array(z.string())),
    openCanvases: z.optional(z.array(z.unknown())),
    grantedEnvironmentVariables: z.optional(z.unknown()),
  }),
);

const sessionMetadata = once(() =>
  openObject({
    sessionId: z.string(),
    startTime: z.string(),
    modifiedTime: z.string(),
    isRemote: z.boolean(),
    isDetached: z.boolean(),
    /** The first prompt, until the session has a name. */
    summary: z.optional(z.string()),
    name: z.optional(z.string()),
    clientName: z.optional(z.string()),
    context: z.optional(
      openObject({
        cwd: z.string(),
        gitRoot: z.optional(z.string()),
        repository: z.optional(z.string()),
        branch: z.optional(z.string()),
      }),
    ),
    /** It has work, and no live node can go on with it. */
    waitingOn: z.optional(z.array(nodeWait())),
  }),
);

const sessionFilter = once(() =>
  sparseObject({
    cwd: textOrNull,
    gitRoot: textOrNull,
    repository: textOrNull,
    branch: textOrNull,
  }),
);
