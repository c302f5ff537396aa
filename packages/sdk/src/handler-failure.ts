import { toError } from './errors.js';

/** A handler of the app that threw. */
export interface HandlerFailure {
  /** What sort of handler: `event`, `lifecycle`, `tool`, `permission`, `hook`, `callback`, `trace` or `connection`. */
  readonly handler:
    | 'event'
    | 'lifecycle'
    | 'tool'
    | 'permission'
    | 'hook'
    | 'callback'
    | 'trace'
    | 'connection';
  /** Which one: an event's type, a tool's name, a hook. */
  readonly name: string;
  readonly sessionId?: string;
  readonly error: Error;
}

/** Reports to the app that one of its handlers threw. */
export type Report = (failure: Omit<HandlerFailure, 'error'>, thrown: unknown) => void;

/** The way failures of handlers take: to the app if it wants them, else to the process's warnings. */
export function reporter(onHandlerError: ((failure: HandlerFailure) => void) | undefined): Report {
  return (failure, thrown) => {
    const error = toError(thrown);
    try {
      if (onHandlerError) onHandlerError({ ...failure, error });
      else warn(failure, error);
    } catch (unreportable) {
      warn(failure, toError(unreportable));
    }
  };
}

function warn({ handler, name }: Omit<HandlerFailure, 'error'>, error: Error): void {
  process.emitWarning(
    `The ${handler} handler ${name} threw: ${error.stack ?? error.message}`,
    'GroundcrewWarning',
  );
}
