import type { EventData } from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import { rateLimited } from '../log/fold.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import { agentOf } from '../log/state.js';
import type { AskedClient } from './asked-client.js';
import type { Offer, Offers } from './offers.js';
import type { Answers, Questions } from './questions.js';

type Answer = Answers['auto_mode_switch'];

/** Has another model answer while the chosen one is rate limited, if users agree. */
export class ModelSwitch {
  constructor(
    private readonly options: {
      /** Some client says whether another model may answer. */
      canAsk(): boolean;
      /** The clients that are asked so by a request. */
      clients(): readonly AskedClient[];
      readonly questions: Questions;
      readonly offers: Offers;
      readonly log: SessionLog;
      readonly clock: Clock;
    },
  ) {}

  /** True when the choice is left to the service from now on; false when no client says so. */
  async seek({ model, ...limit }: RateLimit, signal: AbortSignal): Promise<boolean> {
    const { log, canAsk, clock } = this.options;
    if (log.state.fixed.switchesModels) {
      log.append(...switching(model));
      await log.stored();
      return true;
    }
    if (!canAsk()) return false;
    const requestId = clock.newId();
    return this.ask({ requestId, ...limit }, model, signal);
  }

  /** Asks again what a process before this one had asked; undefined when it had not. */
  async askAgain(model: string, signal: AbortSignal): Promise<boolean | undefined> {
    const { log, questions } = this.options;
    const left = agentOf(log.state).questions.find((question) => question.kind === 'auto_mode_switch');
    if (!left || questions.isWaiting(left.requestId)) return undefined;
    return this.ask(left.event, model, signal);
  }

  private async ask(
    event: EventData<'auto_mode_switch.requested'>,
    model: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { log, questions, offers } = this.options;
    const { requestId } = event;
    const settle = (answer: Answer): Answer => {
      const { response } = answer;
      log.append(
        { note: 'question.closed', data: { requestId } },
        ...(response === 'no' ? [] : switching(model)),
        ...(response === 'yes_always' ? [always] : []),
        { type: 'auto_mode_switch.completed', data: { requestId, response } },
      );
      return answer;
    };
    const answered = questions.ask({ kind: 'auto_mode_switch', requestId }, settle, signal);
    const question = { kind: 'auto_mode_switch', requestId, toolCallId: '', event } as const;
    // One commit: a client never knows of a question that a crash could lose.
    log.append(
      { note: 'question.opened', data: question },
      { type: 'auto_mode_switch.requested', data: event },
    );
    offers.put(this.offer(event));
    const { response } = await answered.finally(() => offers.close(requestId));
    await log.stored();
    return response !== 'no';
  }

  /** When no client that was asked answers, the answer is no. */
  private offer({ requestId, ...limit }: EventData<'auto_mode_switch.requested'>): Offer {
    const { log, questions, clients } = this.options;
    const { sessionId } = log;
    const answer = ({ response }: Answer) =>
      questions.answer({ kind: 'auto_mode_switch', requestId }, { response });
    return {
      requestId,
      clients,
      put: (client, signal) =>
        client.ask('autoModeSwitch.request', { sessionId, ...limit }, signal).then(answer),
      fail: () => answer({ response: 'no' }),
    };
  }
}

/** A model that cannot be had for now, and what its service says of that. */
export interface RateLimit extends Omit<EventData<'auto_mode_switch.requested'>, 'requestId'> {
  readonly model: string;
}

const always: Draft = { note: 'settings.fixed', data: { switchesModels: true } };

function switching(model: string): Draft[] {
  return [
    {
      type: 'session.info',
      data: {
        infoType: 'auto_mode_switch',
        message: 'Rate limited. Switching to auto mode to continue.',
      },
    },
    {
      type: 'session.model_change',
      data: {
        newModel: 'auto',
        previousModel: model,
        reasoningEffort: null,
        contextTier: null,
        source: 'automatic',
        cause: rateLimited,
      },
    },
  ];
}
