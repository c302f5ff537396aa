import * as z from 'zod';
import { method } from '../define.js';
import { once, openObject } from '../schema.js';
import { sessionConfig } from '../session-config.js';
import { sessionMode } from '../settings.js';
import { sessionRef } from './session-ref.js';

/** Sessions from outside: made, opened, found, removed. */
export const sessionsMethods = {
  'session.create': method(
    'Makes a session and attaches this client; an id in use gives the live session.',
    // The handler checks the id's characters, model, agent, directory and tool names: each has a text of its own.
    () => openObject({ sessionId: z.string().optional(), ...sessionConfig() }),
    () => openedSession(),
  ),
  'session.delete': method('Closes a session and removes all of it.', sessionRef, () =>
    openObject({ success: z.boolean(), error: z.string().optional() }),
  ),
  'session.getForeground': method(
    'The session a terminal shows, if one runs here.',
    () => openObject({}),
    () => openObject({ sessionId: z.string().optional() }),
  ),
  'session.getLastId': method(
    'The session that changed last.',
    () => openObject({}),
    () => openObject({ sessionId: z.string().optional() }),
  ),
  'session.getMetadata': method('What a list would say of one session; `{}` when unknown.', sessionRef, () =>
    openObject({ session: sessionMetadata().optional() }),
  ),
  'session.list': method(
    'Sessions with at least one prompt, the newest first.',
    () => openObject({ filter: sessionFilter().optional() }),
    () => openObject({ sessions: z.array(sessionMetadata()) }),
  ),
  'session.resume': method(
    'Attaches this client to a session, live or stored; its settings and tools replace those it gave before.',
    () =>
      openObject({
        // May be missing, for the handler to answer `Missing sessionId parameter`.
        sessionId: z.string().optional(),
        ...sessionConfig(),
        /** True: no `session.resume` event. */
        disableResume: z.boolean().optional(),
        /** True: open questions stay answerable under their old ids, and prompts that wait are run. */
        continuePendingWork: z.boolean().optional(),
        /** True: takes the session even from a live process that works in it. */
        takeOver: z.boolean().optional(),
        factories: z.unknown().optional(),
        requestedEnvironmentVariables: z.unknown().optional(),
      }),
    () => openedSession(),
  ),
  'session.setForeground': method('Shows a session in the terminal.', sessionRef, () =>
    openObject({ success: z.boolean(), error: z.string().optional() }),
  ),
};

const openedSession = once(() =>
  openObject({
    sessionId: z.string(),
    nativeSessionId: z.string(),
    startTime: z.string(),
    isRemote: z.boolean(),
    mode: sessionMode(),
    workspacePath: z.string(),
    capabilities: openObject({
      ui: openObject({ elicitation: z.boolean(), mcpApps: z.boolean(), canvases: z.boolean() }),
      extensions: z.boolean(),
    }),
    openCanvases: z.array(z.unknown()).optional(),
    grantedEnvironmentVariables: z.unknown().optional(),
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
    summary: z.string().optional(),
    name: z.string().optional(),
    clientName: z.string().optional(),
    context: openObject({
      cwd: z.string(),
      gitRoot: z.string().optional(),
      repository: z.string().optional(),
      branch: z.string().optional(),
    }).optional(),
  }),
);

const sessionFilter = once(() =>
  openObject({
    cwd: z.string().nullish(),
    gitRoot: z.string().nullish(),
    repository: z.string().nullish(),
    branch: z.string().nullish(),
  }),
);
