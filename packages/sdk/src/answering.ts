/** What a question is about. */
export interface Question {
  readonly requestId: string;
  readonly toolCallId?: string | undefined;
  /** The subagent that asks. */
  readonly agentId?: string | undefined;
}

/** The questions that are being answered here, each with a signal that fires when nobody asks it any more. */
export class Answering {
  private readonly open = new Map<
    string,
    { readonly question: Question; readonly controller: AbortController }
  >();

  begin(question: Question): AbortSignal {
    const controller = new AbortController();
    this.open.set(question.requestId, { question, controller });
    return controller.signal;
  }

  /** False when nobody waits for the answer any more. */
  finish({ requestId }: Question, signal: AbortSignal): boolean {
    if (this.open.get(requestId)?.controller.signal === signal) this.open.delete(requestId);
    return !signal.aborted;
  }

  cancel(isOver: (question: Question) => boolean): void {
    for (const { question, controller } of [...this.open.values()]) {
      if (!isOver(question)) continue;
      this.open.delete(question.requestId);
      controller.abort(new DOMException('Nobody waits for this answer any more', 'AbortError'));
    }
  }
}
