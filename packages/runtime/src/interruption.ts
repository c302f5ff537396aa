import type { EventData } from '@groundcrew/protocol';

/** Why a running turn was stopped from outside. */
export type InterruptionKind = 'abort' | 'suspend' | 'superseded' | 'close' | 'timeout';

/** What the event of an abort says as its reason. */
export type AbortReason = EventData<'abort'>['reason'];

/** The reason of a turn's AbortSignal. */
export class Interruption extends Error {
  override readonly name = 'Interruption';

  constructor(
    readonly kind: InterruptionKind,
    message: string,
  ) {
    super(message);
  }
}

/** A client, or the runtime on its behalf, aborted the turn. */
export class TurnAborted extends Interruption {
  constructor(readonly reason: AbortReason) {
    super('abort', `The turn was aborted: ${reason}`);
  }
}

/** A hook wants the turn to end as if the error had not been. */
export class ErrorSkipped extends Error {
  override readonly name = 'ErrorSkipped';

  constructor(cause: unknown) {
    super('A hook skipped an error', { cause });
  }
}
