import type { Methods, Result } from '@groundcrew/protocol';

/** What the server is given by the program it is part of. */
export interface ServerSurroundings {
  readonly version: string;
  /** Every connection must show it; without one, none is asked for. */
  readonly connectionToken?: string;
  /** Where the process was started: the directory of sessions that name none. */
  readonly workingDirectory: string;
  authStatus(): Result<Methods['auth.getStatus']>;
  listModels(request: { readonly gitHubToken?: string }): Promise<Result<Methods['models.list']>['models']>;
  /** Closes everything; the program ends by itself once the answer has left. */
  shutDown(): Promise<void>;
}
