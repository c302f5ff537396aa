import type { Methods, Result } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import type { ClientStart } from './dialect/client-dialect.js';

/** What the server is given by the program it is part of. */
export interface ServerEnvironment {
  readonly version: string;
  /** Every connection must show it; without one, none is asked for. */
  readonly connectionToken?: string;
  /** Where the process was started: the directory of sessions that name none. */
  readonly workingDirectory: string;
  /** Where the user's own instructions stand. */
  readonly homeDirectory: string;
  /** What every session is told of how the program was started, such as a setting without effect. */
  readonly warnings?: readonly string[];
  /** What the start of the process says of the clients that come. */
  readonly clients?: ClientStart;
  /** Sessions read no instructions from files unless they ask for them. */
  readonly skipsInstructions?: boolean;
  /** Takes down the methods that clients ask for. */
  readonly used?: { add(method: string): void };
  authStatus(): Result<Methods['auth.getStatus']>;
  /** What one may choose from: in a session, or with a token. */
  listModels(request: {
    readonly gitHubToken?: string;
    readonly session?: Session;
  }): Promise<Result<Methods['models.list']>['models']>;
  /** Who is who at GitHub; without it nobody is known. */
  readonly gitHub?: {
    /** Whose token a session shows; its own if it has one. */
    status(sessionToken: string | undefined): Promise<Result<Methods['session.gitHubAuth.getStatus']>>;
    /** The quotas of whom a token belongs to; the runtime's own unless another is given. */
    quota(token: string | undefined): Promise<Result<Methods['account.getQuota']>['quotaSnapshots']>;
  };
  /** Closes everything; the program ends by itself once the answer has left. */
  shutdown(): Promise<void>;
}
