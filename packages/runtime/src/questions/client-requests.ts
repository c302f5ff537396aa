import type { EventData } from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import type { SessionLog } from '../log/session-log.js';
import type { Answers, Questions } from './questions.js';

/** What a client answered to a form. */
export type ElicitationAnswer = Answers['elicitation'];

/** Requests of one client to the others that live only as long as both: slash commands and forms. */
export class ClientRequests {
  constructor(
    private readonly options: {
      readonly log: SessionLog;
      readonly questions: Questions;
      readonly clock: Clock;
    },
  ) {}

  /** Has the client that declared a slash command run it; resolves with what went wrong, if anything did. */
  runCommand(commandName: string, args: string, signal: AbortSignal): Promise<string | undefined> {
    const { log, questions, clock } = this.options;
    const requestId = clock.newId();
    const command = args === '' ? `/${commandName}` : `/${commandName} ${args}`;
    const settle = ({ error }: Answers['command']) => {
      log.emit({ type: 'command.completed', data: { requestId } });
      return error;
    };
    const answered = questions.ask({ kind: 'command', requestId }, settle, signal);
    log.emit({ type: 'command.execute', data: { requestId, command, commandName, args } });
    return answered;
  }

  /** Offers a queued command to whoever serves it; resolves with whether the queue may go on. */
  offerCommand(command: string, signal: AbortSignal): Promise<Answers['queued_command']> {
    const { log, questions, clock } = this.options;
    const requestId = clock.newId();
    const settle = (result: Answers['queued_command']) => {
      log.emit({ type: 'command.completed', data: { requestId } });
      return result;
    };
    const answered = questions.ask({ kind: 'queued_command', requestId }, settle, signal);
    log.emit({ type: 'command.queued', data: { requestId, command } });
    return answered;
  }

  /** Shows a form to clients that can; waits for the first answer, however long it takes. */
  elicit(
    form: Omit<EventData<'elicitation.requested'>, 'requestId'>,
    signal: AbortSignal,
  ): Promise<ElicitationAnswer> {
    const { log, questions, clock } = this.options;
    const requestId = clock.newId();
    const settle = (answer: ElicitationAnswer) => {
      log.emit({ type: 'elicitation.completed', data: { ...answer, requestId } });
      return answer;
    };
    const answered = questions.ask({ kind: 'elicitation', requestId }, settle, signal);
    log.emit({ type: 'elicitation.requested', data: { mode: 'form', ...form, requestId } });
    return answered;
  }
}
