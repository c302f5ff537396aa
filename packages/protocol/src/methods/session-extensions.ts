import * as z from 'zod/mini';
import { method } from '../define.js';
import { extension } from '../events/host.js';
import { nothing, once, openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';

/** The user's own programs that join sessions, and whether those to come have them. */
export const extensionsMethods = {
  'extensions.discover': method(
    "The user's extensions, and whether sessions to come have them. `mode` is `disabled` where the operator lets none run.",
    () => openObject({}),
    () =>
      openObject({
        extensions: z.array(
          openObject({
            id: z.string(),
            name: z.string(),
            path: z.string(),
            source: z.enum(['user', 'plugin']),
            enabled: z.boolean(),
          }),
        ),
        mode: z.enum(['disabled', 'load_only', 'load_and_augment']),
      }),
  ),
  'extensions.enable': method(
    'Switches extensions of the user on, for sessions to come.',
    () => openObject({ ids: z.array(z.string()) }),
    nothing,
  ),
  'extensions.disable': method(
    'Switches extensions of the user off, for sessions to come.',
    () => openObject({ ids: z.array(z.string()) }),
    nothing,
  ),
};

/** Programs that join a session as clients of their own. */
export const sessionExtensionsMethods = {
  'session.extensions.disable': method(
    'Ends an extension; it stays off in this session.',
    () => inSession({ id: z.string() }),
    nothing,
  ),
  'session.extensions.enable': method('Starts an extension.', () => inSession({ id: z.string() }), nothing),
  'session.extensions.list': method('The extensions of the session, and how they are.', sessionRef, () =>
    extensionList(),
  ),
  'session.extensions.reconcile': method(
    'Ends extensions that were removed or disabled, and starts new and enabled ones; the rest keeps running.',
    sessionRef,
    () => extensionList(),
  ),
  'session.extensions.reload': method(
    'Looks for extensions anew and starts all of them.',
    sessionRef,
    nothing,
  ),
};

const extensionList = once(() =>
  openObject({
    extensions: z.array(openObject({ ...extension(), pid: z.optional(z.number()) })),
  }),
);
