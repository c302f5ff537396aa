import { mergedHeaders } from '@groundcrew/models';
import type { SentRequest, ViewCut } from '../log/state.js';
import type { TraceContext } from '../settings/session-settings.js';
import type { AgentWatch } from '../telemetry/observer.js';

/** HTTP headers the app wants on every model call of one prompt; they may be secret and are never stored. */
export interface RequestHeaders {
  readonly values: Readonly<Record<string, string>>;
  /** In the place of the headers that the session's provider was given, or beside them. */
  readonly strategy: 'override' | 'merge';
}

/** What belongs to a prompt and may not be stored. */
export interface PromptExtras {
  readonly requestHeaders?: RequestHeaders;
  readonly trace?: TraceContext;
}

/** Checks the headers of a prompt; throws a ModelError that names one that cannot be sent, without its value. */
export function checkedExtras(extras: PromptExtras): PromptExtras {
  if (!extras.requestHeaders) return extras;
  const { values, strategy } = extras.requestHeaders;
  return { ...extras, requestHeaders: { values: mergedHeaders({}, values), strategy } };
}

interface InteractionOptions {
  readonly requestHeaders?: RequestHeaders;
  readonly trace: TraceContext;
}

/** What belongs to one prompt of the user, from its delivery to its last model call. */
export class Interaction {
  /** Model calls begun so far. */
  rounds = 0;
  /** Bytes of text the model has streamed so far. */
  private responseBytes = 0;
  /** How often hooks kept the agent from stopping. */
  blocks = 0;
  /** The prompt, as hooks left it. */
  promptText = '';
  /** The service is given the form that is wanted; false when it refused that. */
  usesOutputFormat = true;
  /** The turn goes on where a process that died had left it. */
  isContinued = false;
  /** A shorter view that the model is asked with; it counts from its answer on. */
  view: ViewCut | undefined;

  /** What telemetry sees of the agent that works on it; nothing where telemetry is off. */
  watch: AgentWatch | undefined;

  /** The newest request, as it went out; the log has it from its answer on. */
  sent: SentRequest | undefined;

  constructor(
    readonly id: string,
    private given: InteractionOptions,
  ) {}

  get options(): InteractionOptions {
    return this.given;
  }

  /** Its work is watched from now on, and goes out with the context of that. */
  watchedBy(watch: AgentWatch): this {
    this.watch = watch;
    this.given = { ...this.given, trace: watch.trace };
    return this;
  }

  /** Headers of a prompt that joins: in the place of those there are, or beside them, as it says. */
  join(requestHeaders: RequestHeaders): void {
    const { requestHeaders: before } = this.given;
    const isBeside = before !== undefined && requestHeaders.strategy === 'merge';
    const values = isBeside ? mergedHeaders(before.values, requestHeaders.values) : requestHeaders.values;
    const { strategy } = isBeside ? before : requestHeaders;
    this.given = { ...this.given, requestHeaders: { values, strategy } };
  }

  /** Its further model calls go without the headers of a prompt: it works in the background from now on. */
  dropHeaders(): void {
    const { trace } = this.given;
    this.given = { trace };
  }

  /** Counts bytes that streamed by, and returns how many there were so far. */
  countBytes(bytes: number): number {
    this.responseBytes += bytes;
    return this.responseBytes;
  }

  /** `user` while the next model call is the first of a user's prompt, then `agent`. */
  get initiator(): 'user' | 'agent' {
    return this.rounds <= 1 ? 'user' : 'agent';
  }

  /** The turn that runs now; `0` before the first. */
  get turnId(): string {
    return String(Math.max(0, this.rounds - 1));
  }
}
