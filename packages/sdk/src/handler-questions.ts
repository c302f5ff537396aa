/** What a question is about. */
export interface Question {
  readonly requestId: string;
  readonly toolCallId?: string | undefined;
  /** The subagent that asks. */
  readonly agentId?: string | undefined;
}

type EndRule = (question: Question) => boolean;

/** The questions that were put to handlers here, each with a signal that fires when its answer is no longer needed. */
export class HandlerQuestions {
  private readonly put = new Map<
    string,
    /** Without a controller its handler is done. */
    { readonly question: Question; readonly controller?: AbortController }
  >();
  /** What ended while the questions of before are not known yet. */
  private endRules: EndRule[] | undefined = [];

  /** Undefined when the question has been put before: no handler gets it twice. */
  begin(question: Question): AbortSignal | undefined {
    if (this.put.has(question.requestId)) return undefined;
    const controller = new AbortController();
    this.put.set(question.requestId, { question, controller });
    return controller.signal;
  }

  /** False when no caller waits for the answer any more. */
  finish(question: Question, signal: AbortSignal): boolean {
    if (this.put.get(question.requestId)?.controller?.signal === signal)
      this.put.set(question.requestId, { question });
    return !signal.aborted;
  }

  /** Whether a handler is at it. */
  isAt(requestId: string): boolean {
    return this.put.get(requestId)?.controller !== undefined;
  }

  cancel(isOver: EndRule, reason: Error = isUnclaimed()): void {
    this.endRules?.push(isOver);
    for (const { question, controller } of [...this.put.values()]) {
      if (!isOver(question)) continue;
      this.put.delete(question.requestId);
      controller?.abort(reason);
    }
  }

  /** The ids of the questions that handlers are at. */
  get atWork(): ReadonlySet<string> {
    return new Set([...this.put].filter(([, { controller }]) => controller).map(([requestId]) => requestId));
  }

  /** From now on it is kept which questions end, for a list of open ones that is older than its arrival. */
  keepEndRules(): void {
    this.endRules ??= [];
  }

  /** Those of a list that have not ended since endings are kept; from now on they are not. */
  stillOpen<Q extends Question>(questions: readonly Q[]): readonly Q[] {
    const endRules = this.endRules ?? [];
    this.endRules = undefined;
    return questions.filter((question) => !endRules.some((isOver) => isOver(question)));
  }
}

function isUnclaimed(): Error {
  return new DOMException('No caller waits for this answer any more', 'AbortError');
}
