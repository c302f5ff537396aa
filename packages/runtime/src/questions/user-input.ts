import type { EventData } from '@groundcrew/protocol';
import type { SessionLog } from '../log/session-log.js';
import { type AskedClient, ClientGone } from './asked-client.js';
import type { Questions } from './questions.js';

type AgentQuestion = EventData<'user_input.requested'>;

interface Asking {
  readonly question: AgentQuestion;
  /** Tells those who are at it that it is over. */
  readonly controller: AbortController;
  /** The clients it was put to. */
  readonly clients: Map<string, 'asked' | 'failed'>;
}

/** Puts the agent's open questions to every client that answers such; one that comes later is asked as well. */
export class UserInput {
  private readonly open = new Map<string, Asking>();

  constructor(
    private readonly options: {
      /** The clients that answer questions of the agent. */
      clients(): readonly AskedClient[];
      readonly questions: Questions;
      readonly log: SessionLog;
    },
  ) {}

  /** Asks until the question is closed. */
  put(question: AgentQuestion): void {
    this.open.set(question.requestId, { question, controller: new AbortController(), clients: new Map() });
    this.offer();
  }

  close(requestId: string): void {
    this.open.get(requestId)?.controller.abort();
    this.open.delete(requestId);
  }

  /** Asks those who have not been asked yet. */
  offer(): void {
    for (const asking of this.open.values()) {
      for (const client of this.options.clients()) {
        if (!asking.clients.has(client.clientId)) this.ask(asking, client).catch(receivedByTurn);
      }
    }
  }

  private async ask(asking: Asking, client: AskedClient): Promise<void> {
    const { question, controller, clients } = asking;
    const { requestId } = question;
    const { log, questions } = this.options;
    clients.set(client.clientId, 'asked');
    try {
      // The event is told first.
      await log.published();
      const given = await client.ask(
        'userInput.request',
        paramsOf(question, log.sessionId),
        controller.signal,
      );
      const wasFreeform = given.wasFreeform ?? !question.choices?.includes(given.answer);
      await questions.answer({ kind: 'user_input', requestId }, { answer: given.answer, wasFreeform });
    } catch (error) {
      if (controller.signal.aborted) return;
      if (error instanceof ClientGone) clients.delete(client.clientId);
      else clients.set(client.clientId, 'failed');
      const states = [...clients.values()];
      const isHopeless = states.length > 0 && !states.includes('asked');
      if (isHopeless) await questions.answer({ kind: 'user_input', requestId }, undefined);
    }
  }
}

/** That an answer could not be stored ends the turn that waits for it. */
const receivedByTurn = (): undefined => undefined;

function paramsOf({ question, choices, allowFreeform }: AgentQuestion, sessionId: string) {
  return {
    sessionId,
    question,
    ...(choices && { choices }),
    ...(allowFreeform !== undefined && { allowFreeform }),
  };
}
