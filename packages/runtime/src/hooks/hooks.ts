import {
  charactersIn,
  type EventData,
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
import type { AskedClient } from '../questions/asked-client.js';
import type { Waits } from '../questions/waits.js';

/** How a client wants its hooks to be treated. */
export interface HookOptions {
  /** A hook that has not answered by then has failed. */
  readonly timeoutMs: number;
  /** What a failed hook before a tool call means: the call is denied, or the hook has no opinion. */
  readonly onFailure: 'deny' | 'allow';
  /** The points it has hooks for; absent: it is asked at every point. */
  readonly types?: readonly string[];
  /** How often it may keep the agent from stopping, for each prompt. */
  readonly stopBlocks?: number;
}

/** A client whose hooks are called, or a command of a hooks file. */
export interface HookSource extends HookOptions {
  /** Whose hook it is, for errors. */
  readonly name: string;
  invoke(hookType: HookType, input: unknown, signal: AbortSignal): Promise<unknown>;
}

/** The hooks of an attached client. */
export function clientHooks(client: AskedClient, sessionId: string, options: HookOptions): HookSource {
  return {
    name: 'a client',
    ...options,
    invoke: async (hookType, input, signal) => {
      const answer = await client.ask('hooks.invoke', { sessionId, hookType, input }, signal);
      return answer?.output;
    },
  };
}

type Common = 'sessionId' | 'timestamp' | 'cwd';

/** What a hook receives at a point, less what every hook receives. */
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
export type AnyAnswer =
  | { readonly output: CommonOutput | undefined }
  | { readonly failure: string; readonly onFailure: HookOptions['onFailure'] };

/** The fields of `hook.end`, without those that name the hook. */
export type HookEnd = Pick<EventData<'hook.end'>, 'success' | 'output' | 'error'>;

/** An open record of hooks that were called. */
export interface HookRecord {
  /** Writes `hook.end`, and the notifications for users that are among the answers. */
  close(end: HookEnd, answers?: readonly AnyAnswer[]): void;
}

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

  /** No source at all: nothing is called, and nothing waits. */
  get isEmpty(): boolean {
    return this.parts.sources().length === 0;
  }

  /** Some source has hooks for this point. */
  has(point: HookType): boolean {
    return this.parts.sources().some((source) => isFor(source, point));
  }

  /** The sources that are asked at a point, in their order. */
  sourcesFor(point: HookType): readonly HookSource[] {
    return this.parts.sources().filter((source) => isFor(source, point));
  }

  /** Calls every source, with `hook.start` and `hook.end` around. `advance` makes the next one's input of an output. */
  async run<K extends HookType>(
    point: K,
    input: HookInput<K>,
    signal: AbortSignal,
    advance: (input: HookInput<K>, output: HookOutput<K>) => HookInput<K> = (same) => same,
  ): Promise<readonly HookAnswer<K>[]> {
    if (!this.has(point)) return [];
    const record = this.open(point, { ...this.common(), ...shownInput(point, input) }, { mayWait: true });
    try {
      const answers = await this.ask(point, input, signal, advance);
      record.close(endOf(answers), answers);
      return answers;
    } catch (error) {
      record.close(stoppedEnd);
      throw error;
    }
  }

  /** The same without events: the caller opens and closes the record. */
  async ask<K extends HookType>(
    point: K,
    input: HookInput<K>,
    signal: AbortSignal,
    advance: (input: HookInput<K>, output: HookOutput<K>) => HookInput<K>,
  ): Promise<readonly HookAnswer<K>[]> {
    const answers: HookAnswer<K>[] = [];
    let next = input;
    for (const source of this.sourcesFor(point)) {
      const wait = { kind: 'hooks', hookType: point, source: source.name } as const;
      const answer = await this.parts.waits.during(wait, this.askOne(source, point, next, signal));
      answers.push(answer);
      if ('output' in answer && answer.output !== undefined) next = advance(next, answer.output);
    }
    return answers;
  }

  /**
   * Writes that hooks of a point are called; what it returns writes what they said. `mayWait`: of hooks that answer at
   * once both are written together, in one commit.
   */
  open(point: HookType, input: unknown, { mayWait = false } = {}): HookRecord {
    const { log, clock } = this.parts;
    const invocation = { hookInvocationId: clock.newId(), hookType: point };
    let hasStarted = false;
    const start = () => {
      if (!hasStarted) log.append({ type: 'hook.start', data: { ...invocation, input } });
      hasStarted = true;
    };
    const timer = mayWait ? setTimeout(start, startMilliseconds) : undefined;
    if (!mayWait) start();
    return {
      close: (end, answers = []) => {
        clearTimeout(timer);
        start();
        log.append({ type: 'hook.end', data: { ...invocation, ...end } });
        for (const message of notificationsOf(answers))
          log.append({ type: 'session.info', data: { infoType: 'hook', message } });
      },
    };
  }

  /** What every hook receives. */
  common(): { readonly sessionId: string; readonly timestamp: number; readonly cwd: string } {
    const { log, clock } = this.parts;
    return {
      sessionId: log.conversationId,
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
    const limit = new AbortController();
    const late = new Error(`it did not answer within ${source.timeoutMs / 1000} s`);
    const timer = setTimeout(() => limit.abort(late), source.timeoutMs);
    const stop = () => limit.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      const said = await raced(
        source.invoke(point, { ...this.common(), ...input }, limit.signal),
        limit.signal,
      );
      return answerOf(source, point, said);
    } catch (error) {
      if (signal.aborted) throw error;
      const reason: unknown = limit.signal.aborted ? late : error;
      return failed(source, reason instanceof Error ? reason.message : String(reason));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }
}

function answerOf<K extends HookType>(source: HookSource, point: K, said: unknown): HookAnswer<K> {
  if (said === undefined || said === null) return { output: undefined };
  const most = mostCharacters(point);
  if (charactersIn(said) > most) return failed(source, `it answered more than ${most} characters`);
  const { result }: Method = hookPoints[point];
  // Elsewhere null is the same as nothing; here it takes `_meta` away.
  const parsed = point === 'preMcpToolCall' ? result().safeParse(said) : read(result, said);
  if (!parsed.success) return failed(source, `it answered otherwise than the protocol says`);
  // The table pairs each point with its own output; which one this is, is known only now.
  return { output: parsed.data as HookOutput<K> };
}

/** As much as a prompt may have; results of tools may have images. */
function mostCharacters(point: HookType): number {
  return (point === 'postToolUse' ? 16 : 2) * 1024 * 1024;
}

function isFor({ types }: HookSource, point: HookType): boolean {
  return types === undefined || types.includes(point);
}

/** Hooks that have not answered by then are seen to be called. */
const startMilliseconds = 5;

/** What hooks may change, clients do not see before: prompts, and results of tools. */
const hiddenInput: Partial<Record<HookType, readonly string[]>> = {
  postToolUse: ['toolResult'],
  userPromptSubmitted: ['prompt'],
  userPromptTransformed: ['transformedPrompt'],
};

function shownInput(point: HookType, input: object): object {
  const hidden = hiddenInput[point];
  if (!hidden) return input;
  return Object.fromEntries(Object.entries(input).filter(([name]) => !hidden.includes(name)));
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

/** What sources said that had an opinion. */
export function outputsOf<T>(
  answers: readonly ({ readonly output: T | undefined } | { readonly failure: string })[],
): readonly T[] {
  return answers.flatMap((answer) => ('output' in answer && answer.output ? [answer.output] : []));
}

/** What `hook.end` says of these answers. */
export function endOf(answers: readonly AnyAnswer[]): HookEnd {
  const failures = failuresOf(answers);
  const output = shownOutput(answers);
  return {
    success: failures.length === 0,
    ...(output !== undefined && { output }),
    ...(failures.length > 0 && { error: { message: failures.join(' ') } }),
  };
}

/** Why sources failed. */
function failuresOf(answers: readonly AnyAnswer[]): readonly string[] {
  return answers.flatMap((answer) => ('failure' in answer ? [answer.failure] : []));
}

/** What clients see of outputs: that of one source as it is, those of several in their order. */
export function shownOutput(answers: readonly AnyAnswer[]): unknown {
  const shown = outputsOf(answers).filter(({ suppressOutput }) => suppressOutput !== true);
  return shown.length > 1 ? { outputs: shown } : shown[0];
}

/** What `hook.end` says where the turn was stopped before hooks had answered. */
export const stoppedEnd: HookEnd = {
  success: false,
  error: { message: 'The turn was stopped before the hooks had answered.' },
};

function notificationsOf(answers: readonly AnyAnswer[]): readonly string[] {
  return outputsOf(answers).flatMap(({ userNotification }) =>
    typeof userNotification === 'string' && userNotification !== '' ? [userNotification] : [],
  );
}
