import type { Methods } from '@groundcrew/protocol';
import { Refusal } from '../failure.js';
import type { Handlers, SessionHandlers } from '../handler.js';

const off = { state: 'off' } as const;

type ServerNames =
  | 'sessions.connect'
  | 'sessions.getRemoteControlStatus'
  | 'sessions.setRemoteControlSteering'
  | 'sessions.startRemoteControl'
  | 'sessions.stopRemoteControl'
  | 'sessions.transferRemoteControl';

/** Sessions are reached by the doors of this runtime only: remote control is a state that never comes. */
export const remoteControlHandlers: Handlers<Pick<Methods, ServerNames>> = {
  async 'sessions.connect'({ sessionId }) {
    throw new Refusal(`No remote session ${sessionId}: this runtime opens only sessions of its own homes.`);
  },
  async 'sessions.getRemoteControlStatus'() {
    return { status: off };
  },
  async 'sessions.setRemoteControlSteering'() {
    return { status: off };
  },
  async 'sessions.startRemoteControl'({ sessionId }, { runtime }) {
    if (!runtime.find(sessionId)) throw new Refusal(`session not found: ${sessionId}`);
    throw new Refusal('This runtime has no remote control; clients attach to a session over its own doors.');
  },
  async 'sessions.stopRemoteControl'() {
    return { status: off, stopped: false };
  },
  async 'sessions.transferRemoteControl'() {
    return { status: off, transferred: false };
  },
};

type SessionNames = Extract<keyof Methods, `session.remote.${string}` | `session.visibility.${string}`>;

export const sessionRemoteHandlers: SessionHandlers<Pick<Methods, SessionNames>> = {
  async 'session.remote.enable'({ mode }) {
    if (mode === 'off') return { remoteSteerable: false, started: false };
    throw new Refusal('This runtime has no remote control; clients attach to a session over its own doors.');
  },
  async 'session.remote.disable'() {
    return {};
  },
  async 'session.remote.notifySteerableChanged'({ remoteSteerable }, { session }) {
    await session.record({ type: 'session.remote_steerable_changed', data: { remoteSteerable } });
    return {};
  },
  async 'session.visibility.get'() {
    return { synced: false };
  },
  async 'session.visibility.set'() {
    return { synced: false };
  },
};
