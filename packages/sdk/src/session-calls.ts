import { type GroundcrewError, isConnectionLost } from './errors.js';
import type { TraceContext } from './trace.js';
import type { Call } from './wire.js';

/** The connection that a session is open on. */
export interface SessionPlace {
  readonly call: Call;
  traceContext(): Promise<TraceContext>;
  /** Whether a question of before is for this session's handlers: no newer session is there, none is at it already. */
  mayAnswer(requestId: string): boolean;
  /** Takes this client off the session, unless it has opened it again since. */
  detach(signal?: AbortSignal): Promise<void>;
}

/** What a session says to the runtime, over whichever connection it is open on. */
export class SessionCalls {
  /** Why nothing can be asked any more. */
  private over: GroundcrewError | undefined;
  private readonly repeats = new Set<Promise<unknown>>();

  constructor(private current: SessionPlace) {}

  get place(): SessionPlace {
    return this.current;
  }

  get isOver(): boolean {
    return this.over !== undefined;
  }

  readonly request: Call = (method, params, signal) =>
    this.over ? Promise.reject(this.over) : this.current.call(method, params, signal);

  /** For requests that may be sent twice: if the session moves before the reply, it sends them again over the new connection. */
  readonly insist: Call = async (method, params, signal) => {
    let place = this.current;
    let sending = this.request(method, params, signal);
    for (;;) {
      try {
        return await sending;
      } catch (error) {
        if (!isConnectionLost(error) || this.current === place) throw error;
      } finally {
        this.repeats.delete(sending);
      }
      place = this.current;
      sending = this.request(method, params, signal);
      this.repeats.add(sending);
    }
  };

  move(place: SessionPlace): void {
    this.current = place;
  }

  /** Waits until all that was said again is answered. */
  async repeated(): Promise<void> {
    await Promise.allSettled(this.repeats);
  }

  /** Returns the reason: the first one given counts. */
  end(reason: GroundcrewError): GroundcrewError {
    this.over ??= reason;
    return this.over;
  }
}
