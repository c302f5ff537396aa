import {
  type HookPoints,
  type HookType,
  hookPoints,
  type Method,
  type Params,
  type Result,
  read,
} from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import type { AgentLog } from '../log/agent-log.js';
import type { Waits } from '../questions/waits.js';

/** How a client wants its hooks to be treated. */
export interface HookOptions {
  /** A hook that has not answered by then has failed. */
  readonly timeoutMs: number;
  /** What a failed hook before a tool call means: the call is denied, or the hook has no opinion. */
  readonly onFailure: 'deny' | 'allow';
}

/** A client whose hooks are called, or a command of a hooks file. */
export interface HookSource extends HookOptions {
  /** Whose hook it is, for errors. */
  readonly name: string;
  invoke(hookType: HookType, input: unknown, signal: AbortSignal): Promise<unknown>;
}

type Common = 'sessionId' | 'timestamp' | 'cwd';

/** What a hook is told at a point, less what every hook is told. */
export type HookInput<K extends HookType> = Omit<Params<HookPoints[K]>, Common>;
export type HookOutput<K extends HookType> = Result<HookPoints[K]> & CommonOutput;

/** What every hook may answer besides. */
export interface CommonOutput {
  /** Clients do not see what the hook said. */
  readonly suppressOutput?: unknown;
  /** Clients see this as a `session.info`. */
  readonly userNotification?: unknown;
}

/** What one source said at a point: an output, no opinion, or why it failed. */
export type HookAnswer<K extends HookType> =
  | { readonly output: HookOutput<K> | undefined }
  | { readonly failure: string; readonly onFailure: HookOptions['onFailure'] };

/** The same, whatever the point. */
type AnyAnswer =
  | { readonly output: CommonOutput | undefined }
  | { readonly failure: string; readonly onFailure: HookOptions['onFailure'] };

/** What hooks work with. */
export interface HookParts {
  readonly log: AgentLog;
  readonly clock: Clock;
  readonly waits: Waits;
  /** In the order in which they were attached. */
  sources(): readonly HookSource[];
}

/** Calls the hooks of a session, one source after the other, and records that it did. */
export class Hooks {
  constructor(private readonly parts: HookParts) {}

  /** Nobody has hooks: nothing is called, and nothing waits. */
  get isEmpty(): boolean {
    return this.parts.sources().length === 0;
  }

  /** Calls every source, with `hook.start` and `hook.end` around. `advance` makes the next one's input of an output. */
  async run<K extends HookType>(
    point: K,
    input: HookInput<K>,
    signal: AbortSignal,
    advance: (input: HookInput<K>, output: HookOutput<K>) => HookInput<K> = (same) => same,
  ): Promise<readonly HookAnswer<K>[]> {
    if (this.isEmpty) return [];
    // A hook may redact a result: nobody else sees it before.
    const { toolResult: _, ...shown } = input as HookInput<K> & { readonly toolResult?: unknown };
    const record = this.open(point, { ...this.common(), ...shown });
    const answers = await this.ask(point, input, signal, advance);
    record.close(answers);
    return answers;
  }

  /** The same without events: the caller opens and closes the record. */
  async ask<K extends HookType>(
    point: K,
    input: HookInput<K>,
    signal: AbortSignal,
    advance: (input: HookInput<K>, output: HookOutput<K>) => HookInput<K> = (same) => same,
  ): Promise<readonly HookAnswer<K>[]> {
    const answers: HookAnswer<K>[] = [];
    let next = input;
    for (const source of this.parts.sources()) {
      const wait = { kind: 'hooks', hookType: point, source: source.name } as const;
      const answer = await this.parts.waits.during(wait, this.askOne(source, point, next, signal));
      answers.push(answer);
      if ('output' in answer && answer.output !== undefined) next = advance(next, answer.output);
    }
    return answers;
  }

  /** Writes that hooks of a point are called; what it returns writes what they said. */
  open(point: HookType, input: unknown): { close(answers: readonly AnyAnswer[]): void } {
    const { log, clock } = this.parts;
    const invocation = { hookInvocationId: clock.newId(), hookType: point };
    log.append({ type: 'hook.start', data: { ...invocation, input } });
    return {
      close: (answers) => {
        log.append({ type: 'hook.end', data: { ...invocation, ...endOf(answers) } });
        for (const message of notificationsOf(answers))
          log.append({ type: 'session.info', data: { infoType: 'hook', message } });
      },
    };
  }

  /** What every hook is told. */
  common(): { readonly sessionId: string; readonly timestamp: number; readonly cwd: string } {
    const { log, clock } = this.parts;
    return {
      sessionId: log.agentId ?? log.sessionId,
      timestamp: clock.now().getTime(),
      cwd: log.session.context.cwd,
    };
  }

  private async askOne<K extends HookType>(
    source: HookSource,
    point: K,
    input: HookInput<K>,
    signal: AbortSignal,
  ): Promise<HookAnswer<K>> {
    const limit = AbortSignal.timeout(source.timeoutMs);
    try {
      const answered = await raced(
        source.invoke(point, { ...this.common(), ...input }, AbortSignal.any([signal, limit])),
        AbortSignal.any([signal, limit]),
      );
      if (answered === undefined || answered === null) return { output: undefined };
      const { result }: Method = hookPoints[point];
      const parsed = read(result, answered);
      if (!parsed.success) return failed(source, `it answered otherwise than the protocol says`);
      // The table pairs each point with its own output; which one this is, is known only now.
      return { output: parsed.data as HookOutput<K> };
    } catch (error) {
      if (signal.aborted) throw error;
      if (limit.aborted) return failed(source, `it did not answer within ${source.timeoutMs / 1000} s`);
      return failed(source, error instanceof Error ? error.message : String(error));
    }
  }
}

function failed({ name, onFailure }: HookSource, reason: string) {
  return { failure: `The hook of ${name} failed: ${reason}`, onFailure };
}

/** A source that does not heed its signal is not waited for. */
function raced<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function outputsOf(answers: readonly AnyAnswer[]): readonly CommonOutput[] {
  return answers.flatMap((answer) => ('output' in answer && answer.output ? [answer.output] : []));
}

function endOf(answers: readonly AnyAnswer[]) {
  const failures = answers.flatMap((answer) => ('failure' in answer ? [answer.failure] : []));
  const shown = outputsOf(answers).filter(({ suppressOutput }) => suppressOutput !== true);
  return {
    success: failures.length === 0,
    ...(shown.length > 0 && { output: Object.assign({}, ...shown) }),
    ...(failures.length > 0 && { error: { message: failures.join(' ') } }),
  };
}

function notificationsOf(answers: readonly AnyAnswer[]): readonly string[] {
  return outputsOf(answers).flatMap(({ userNotification }) =>
    typeof userNotification === 'string' && userNotification !== '' ? [userNotification] : [],
  );
}
