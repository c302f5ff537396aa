import { randomUUID } from 'node:crypto';
import {
  Client,
  type ResumeSessionOptions,
  RuntimeConnection,
  type Session,
  type SessionOptions,
} from '@groundcrew/sdk';
import { temporaryWorkplace, type Workplace } from './temporary.js';

/** What the two clients bring along. */
export interface TwoClientsOptions {
  /** The session as the first client makes it; a scripted model's `settings` belong here. */
  readonly session?: SessionOptions;
  /** What the second one adds when it joins. */
  readonly joining?: ResumeSessionOptions;
  /** The runtime's program; found as the SDK finds it unless given. */
  readonly runtimePath?: string;
}

/** One client and its view of the session. */
export interface Participant {
  readonly client: Client;
  readonly session: Session;
}

/** One runtime with two clients on one session. */
export interface TwoClients extends AsyncDisposable {
  readonly workplace: Workplace;
  readonly first: Participant;
  readonly second: Participant;
  /** Ends the runtime and removes its home. May be called again. */
  close(): Promise<void>;
}

/** Starts a runtime on a port, makes a session on it and joins that session with another client. */
export async function twoClients(options: TwoClientsOptions = {}): Promise<TwoClients> {
  const workplace = temporaryWorkplace();
  const connectionToken = randomUUID();
  const starting = RuntimeConnection.forTcp({
    connectionToken,
    ...(options.runtimePath !== undefined && { path: options.runtimePath }),
  });
  const clients: Client[] = [new Client({ ...workplace.clientOptions, connection: starting })];
  const close = async () => {
    for (const client of clients.toReversed()) await client.stop();
    workplace.remove();
  };
  try {
    const [one] = clients as [Client];
    await one.start();
    const other = new Client({
      connection: RuntimeConnection.forUri(`127.0.0.1:${one.runtimePort}`, { connectionToken }),
    });
    clients.push(other);
    const session = await one.createSession(options.session);
    const joined = await other.resumeSession(session.sessionId, options.joining);
    return {
      workplace,
      first: { client: one, session },
      second: { client: other, session: joined },
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
