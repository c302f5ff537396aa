import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, text } from '../fields.js';
import { once, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { inSession, sessionRef } from './session-ref.js';

/** Control of sessions from elsewhere. This runtime is reached by its own doors only: it is always off. */
export const remoteControlMethods = {
  'sessions.connect': method(
    'Would open a session that another host runs; there is none.',
    () => openObject({ sessionId: z.string() }),
    () => openObject({}),
  ),
  'sessions.getRemoteControlStatus': method(
    'Whether sessions are controlled from elsewhere: never.',
    () => openObject({}),
    () => openObject({ status: off() }),
  ),
  'sessions.setRemoteControlSteering': method(
    'Changes nothing while remote control is off.',
    () => sparseObject({ enabled: flag }),
    () => openObject({ status: off() }),
  ),
  'sessions.startRemoteControl': method(
    'Is refused: this runtime has no remote control.',
    () => openObject({ sessionId: z.string() }),
    () => openObject({ status: off() }),
  ),
  'sessions.stopRemoteControl': method(
    'Stops nothing while remote control is off.',
    () => sparseObject({ force: flag, expectedSessionId: text }),
    () => openObject({ status: off(), stopped: z.boolean() }),
  ),
  'sessions.transferRemoteControl': method(
    'Transfers nothing while remote control is off.',
    () => sparseObject({ toSessionId: text, expectedFromSessionId: text }),
    () => openObject({ status: off(), transferred: z.boolean() }),
  ),
};

const off = once(() => openObject({ state: z.literal('off') }));

/** The same for one session. */
export const sessionRemoteMethods = {
  'session.remote.disable': method('Does nothing: a session is never exported.', sessionRef, () =>
    openObject({}),
  ),
  'session.remote.enable': method(
    'With the mode `off`, the state that there is; every other is refused.',
    () => inSession({ mode: z.optional(z.string()) }),
    () => openObject({ remoteSteerable: z.boolean(), started: z.boolean() }),
  ),
  'session.remote.notifySteerableChanged': method(
    'Records whether the host of a client lets others steer the session.',
    () => inSession({ remoteSteerable: z.boolean() }),
    () => openObject({}),
  ),
  'session.visibility.get': method(
    'Who else sees the session: it is synced to no other place.',
    sessionRef,
    () => openObject({ synced: z.boolean() }),
  ),
  'session.visibility.set': method(
    'Changes nothing: a session that is not synced cannot be shared.',
    () => inSession({ status: z.string() }),
    () => openObject({ synced: z.boolean() }),
  ),
};
