/** Why a running turn was stopped from outside. */
export type InterruptionKind = 'abort' | 'suspend' | 'superseded' | 'close' | 'timeout';

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
