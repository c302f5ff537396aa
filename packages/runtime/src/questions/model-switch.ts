import type { EventData } from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import { rateLimited } from '../log/fold.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import type { AskedClient } from './asked-client.js';
import type { Answers, Questions } from './questions.js';

type Answer = Answers['auto_mode_switch'];

/** Has another model answer while the chosen one is rate limited, if people agree. */
export class ModelSwitch {
  constructor(
    private readonly options: {
      /** The clients that say whether another model may answer. */
      clients(): readonly AskedClient[];
      readonly questions: Questions;
      readonly log: SessionLog;
      readonly clock: Clock;
    },
  ) {}

  /** True when the choice is left to the service from now on; false when nobody says so. */
  async seek(limit: RateLimit, signal: AbortSignal): Promise<boolean> {
    const { log, clients } = this.options;
    if (log.state.fixed.switchesModels) {
      log.append(...switching(limit));
      await log.stored();
      return true;
    }
    if (clients().length === 0) return false;
    const { response } = await this.ask(limit, signal);
    await log.stored();
    return response !== 'no';
  }

  private async ask({ model, ...limit }: RateLimit, signal: AbortSignal): Promise<Answer> {
    const { log, questions, clock } = this.options;
    const requestId = clock.newId();
    const settle = (answer: Answer): Answer => {
      const { response } = answer;
      log.append(
        ...(response === 'no' ? [] : switching({ model })),
        ...(response === 'yes_always' ? [always] : []),
        { type: 'auto_mode_switch.completed', data: { requestId, response } },
      );
      return answer;
    };
    const answered = questions.ask({ kind: 'auto_mode_switch', requestId }, settle, signal);
    log.emit({ type: 'auto_mode_switch.requested', data: { requestId, ...limit } });
    const over = new AbortController();
    this.put(requestId, limit, AbortSignal.any([signal, over.signal])).catch(receivedByTurn);
    return answered.finally(() => over.abort());
  }

  /** Puts it to all who answer such; when none of them does, the answer is no. */
  private async put(requestId: string, limit: Omit<RateLimit, 'model'>, signal: AbortSignal): Promise<void> {
    const { log, questions, clients } = this.options;
    const { sessionId } = log;
    await log.published(); // the event is told first
    const answer = ({ response }: Answer) =>
      questions.answer({ kind: 'auto_mode_switch', requestId }, { response });
    const asked = clients().map((client) =>
      client.ask('autoModeSwitch.request', { sessionId, ...limit }, signal).then(answer),
    );
    const outcomes = await Promise.allSettled(asked);
    if (!signal.aborted && outcomes.every(({ status }) => status === 'rejected'))
      await answer({ response: 'no' });
  }
}

/** A model that cannot be had for now, and what its service says of that. */
export interface RateLimit extends Omit<EventData<'auto_mode_switch.requested'>, 'requestId'> {
  readonly model: string;
}

const always: Draft = { note: 'settings.fixed', data: { switchesModels: true } };

/** That an answer could not be stored ends the turn that waits for it. */
const receivedByTurn = (): undefined => undefined;

function switching({ model }: Pick<RateLimit, 'model'>): Draft[] {
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
