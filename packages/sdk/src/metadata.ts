import type { Methods, Params, Result } from '@groundcrew/protocol';

type WireMetadata = NonNullable<Result<Methods['session.getMetadata']>['session']>;

/** Where a session works. */
export interface SessionContext {
  readonly workingDirectory: string;
  readonly gitRoot?: string;
  /** As `owner/name`. */
  readonly repository?: string;
  readonly branch?: string;
}

/** What a list says of a session. */
export interface SessionMetadata extends Omit<WireMetadata, 'startTime' | 'modifiedTime' | 'context'> {
  readonly startTime: Date;
  readonly modifiedTime: Date;
  readonly context?: SessionContext;
}

/** One thing that a session waits for; its other fields depend on `kind`. */
export type WaitingOn = Result<Methods['session.metadata.activity']>['waitingOn'][number];

/** Which sessions to list: those whose context is this. */
export type SessionListFilter = Partial<SessionContext>;

/** The wire's words for a session, in those of the SDK. */
export function metadataFrom({ startTime, modifiedTime, context, ...rest }: WireMetadata): SessionMetadata {
  const { cwd, ...place } = context ?? {};
  return {
    ...rest,
    startTime: new Date(startTime),
    modifiedTime: new Date(modifiedTime),
    ...(cwd !== undefined && { context: { workingDirectory: cwd, ...place } }),
  };
}

/** The filter in the words of the wire. */
export function filterParams({
  workingDirectory,
  ...rest
}: SessionListFilter): Params<Methods['session.list']> {
  return { filter: { ...rest, ...(workingDirectory !== undefined && { cwd: workingDirectory }) } };
}
