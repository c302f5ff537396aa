import { isDeepStrictEqual } from 'node:util';
import type { EventData } from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import { Interruption } from '../interruption.js';
import type { OpenRequest } from '../log/open-question.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import { checkForm, fittingContent, UnfitForm } from './form.js';
import type { Answers, Questions } from './questions.js';

/** What a client answered to a form. */
export type ElicitationAnswer = Answers['elicitation'];

/** A form to fill in, or a page to visit; without a mode it is a form. */
export type Elicitation = Omit<EventData<'elicitation.requested'>, 'requestId'>;

/** What an MCP server wants of a model. */
export type SamplingRequest = Omit<EventData<'sampling.requested'>, 'requestId'>;

type RequestKind = OpenRequest['kind'];
type RequestOf<K extends RequestKind> = Extract<OpenRequest, { readonly kind: K }>;

/** Requests of apps, clients and MCP servers to the clients of a session: slash commands, forms, pages, sampling. */
export class ClientRequests {
  /** Fires when the session leaves this process; open questions stay records of the log. */
  private readonly closing = new AbortController();
  /** How many callers in this process wait for an answer. */
  private callers = 0;
  /** What ends the wait for a question that a process before this one had asked, by its id. */
  private readonly reopened = new Map<string, AbortController>();

  constructor(
    private readonly options: {
      readonly log: SessionLog;
      readonly questions: Questions;
      readonly clock: Clock;
    },
  ) {}

  /** A caller in this process waits for an answer: the session cannot be unloaded. */
  get hasCallers(): boolean {
    return this.callers > 0;
  }

  /** Has the client that declared a slash command run it; resolves with what went wrong, if anything did. */
  runCommand(commandName: string, args: string, signal: AbortSignal): Promise<string | undefined> {
    const { log, questions, clock } = this.options;
    const requestId = clock.newId();
    const command = args === '' ? `/${commandName}` : `/${commandName} ${args}`;
    const settle = ({ error }: Answers['command']) => {
      log.emit({ type: 'command.completed', data: { requestId } });
      return error;
    };
    const answered = questions.ask({ kind: 'command', requestId }, settle, this.orClosing(signal));
    log.emit({ type: 'command.execute', data: { requestId, command, commandName, args } });
    return answered;
  }

  /** Offers a queued command to the clients that want such, under its own id; resolves with what became of it. */
  offerCommand(
    { messageId: requestId, text: command }: { readonly messageId: string; readonly text: string },
    signal: AbortSignal,
  ): Promise<Answers['queued_command']> {
    const { log, questions } = this.options;
    const settle = (result: Answers['queued_command']) => {
      log.emit({ type: 'command.completed', data: { requestId } });
      return result;
    };
    const answered = questions.ask({ kind: 'queued_command', requestId }, settle, signal);
    log.emit({ type: 'command.queued', data: { requestId, command } });
    return answered;
  }

  /**
   * Shows a form, or a page to visit, to clients that can; waits for the first answer, however long it takes. The same
   * form that a process before this one had asked is not asked twice: its question is waited for. Throws UnfitForm.
   */
  elicit(elicitation: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer> {
    const { mode = 'form', requestedSchema, url, toolCallId = '' } = elicitation;
    if (mode === 'url') requireAddress(url);
    else if (requestedSchema) checkForm(requestedSchema);
    const asked = { ...elicitation, mode };
    const question = this.taken('elicitation', asked) ?? {
      kind: 'elicitation' as const,
      toolCallId,
      ...this.withId(asked),
    };
    return this.call(question, () => this.awaitForm(question, signal));
  }

  /** Asks clients to answer what an MCP server wants of a model; undefined when they refuse. */
  sample(request: SamplingRequest, signal: AbortSignal): Promise<Answers['sampling']> {
    const question = this.taken('sampling', request) ?? {
      kind: 'sampling' as const,
      toolCallId: '',
      ...this.withId(request),
    };
    return this.call(question, () => this.awaitSampling(question, signal));
  }

  /** Asks again what a process before this one had asked; an answer is an event, though no caller waits for it. */
  reopen(): void {
    for (const question of this.left()) {
      const { requestId } = question;
      const controller = new AbortController();
      this.reopened.set(requestId, controller);
      const answered: Promise<unknown> =
        question.kind === 'elicitation'
          ? this.awaitForm(question, controller.signal)
          : this.awaitSampling(question, controller.signal);
      answered.then(() => this.reopened.delete(requestId)).catch(isStored);
    }
  }

  /** Closes what a process before this one had asked and no client continues. */
  closeLeft(): void {
    const { log } = this.options;
    for (const question of this.left()) log.append(...closingOf(question, { action: 'cancel' }));
  }

  /** The session leaves this process. */
  close(): void {
    this.closing.abort(new Interruption('close', 'The session was closed'));
  }

  private awaitForm(question: RequestOf<'elicitation'>, signal: AbortSignal): Promise<ElicitationAnswer> {
    const { log, questions } = this.options;
    const { requestId, event } = question;
    const settle = (answer: ElicitationAnswer) => {
      log.append(...closingOf(question, answer));
      return answer;
    };
    const read = (given: ElicitationAnswer) => fittingAnswer(event, given);
    const ref = { kind: 'elicitation', requestId } as const;
    const answered = questions.ask(ref, settle, this.orClosing(signal), read);
    // One commit: a client never knows of a question that a crash could lose.
    log.append({ note: 'question.opened', data: question }, { type: 'elicitation.requested', data: event });
    return answered;
  }

  private awaitSampling(question: RequestOf<'sampling'>, signal: AbortSignal): Promise<Answers['sampling']> {
    const { log, questions } = this.options;
    const { requestId, event } = question;
    const settle = (answer: Answers['sampling']) => {
      log.append(...closingOf(question));
      return answer;
    };
    const ref = { kind: 'sampling', requestId } as const;
    const answered = questions.ask(ref, settle, this.orClosing(signal), fittingSample);
    log.append({ note: 'question.opened', data: question }, { type: 'sampling.requested', data: event });
    return answered;
  }

  /** A caller that no longer waits takes its question back, unless the session has left this process. */
  private async call<T>(question: OpenRequest, ask: () => Promise<T>): Promise<T> {
    const { log } = this.options;
    this.callers += 1;
    try {
      return await ask();
    } catch (error) {
      if (!this.closing.signal.aborted) log.append(...closingOf(question, { action: 'cancel' }));
      throw error;
    } finally {
      this.callers -= 1;
    }
  }

  private orClosing(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.closing.signal]);
  }

  private withId<T extends object>(
    asked: T,
  ): { readonly requestId: string; readonly event: T & { requestId: string } } {
    const requestId = this.options.clock.newId();
    return { requestId, event: { ...asked, requestId } };
  }

  /** The same question, asked by a process before this one, for a caller to wait for. */
  private taken<K extends RequestKind>(
    kind: K,
    asked: Omit<RequestOf<K>['event'], 'requestId'>,
  ): RequestOf<K> | undefined {
    const { requests } = this.options.log.latest;
    const found = requests.find(
      (each): each is RequestOf<K> =>
        each.kind === kind && this.isWithoutCaller(each) && isSame(each.event, asked),
    );
    if (found) {
      this.reopened.get(found.requestId)?.abort();
      this.reopened.delete(found.requestId);
    }
    return found;
  }

  private isWithoutCaller({ requestId }: OpenRequest): boolean {
    return this.reopened.has(requestId) || !this.options.questions.isWaiting(requestId);
  }

  /** Open questions that nothing in this process waits for. */
  private left(): readonly OpenRequest[] {
    const { log, questions } = this.options;
    return log.latest.requests.filter(({ requestId }) => !questions.isWaiting(requestId));
  }
}

/** The answer is an event and a record. */
const isStored = (): undefined => undefined;

function closingOf({ kind, requestId }: OpenRequest, answer?: ElicitationAnswer): Draft[] {
  const closed: Draft = { note: 'question.closed', data: { requestId } };
  if (kind === 'sampling') return [closed, { type: 'sampling.completed', data: { requestId } }];
  return [closed, { type: 'elicitation.completed', data: { ...answer, requestId } }];
}

/** Throws UnfitForm. */
function fittingAnswer(
  { mode, requestedSchema }: EventData<'elicitation.requested'>,
  given: ElicitationAnswer,
): ElicitationAnswer {
  const { action = 'cancel', content } = given;
  if (action !== 'accept' || mode === 'url') return { action };
  if (!requestedSchema) return { action, ...(content && { content }) };
  return { action, content: { ...fittingContent(requestedSchema, content) } };
}

/** Throws UnfitForm for what a server could not take for the answer of a model. */
function fittingSample(given: Answers['sampling']): Answers['sampling'] {
  if (given === undefined) return undefined;
  const { role = 'assistant', content, model = '' } = given;
  if (role !== 'assistant' && role !== 'user')
    throw new UnfitForm('response.role', 'must be assistant or user');
  if (typeof model !== 'string') throw new UnfitForm('response.model', 'must be a string');
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  const isContent = blocks.every((block) => typeof (block as { type?: unknown } | null)?.type === 'string');
  if (!isContent || blocks.length === 0)
    throw new UnfitForm('response.content', 'must be content of a type, such as { type: "text", text }');
  return given;
}

/** The ids of a request, of this process and of the server, are new each time that it is made. */
function isSame(before: OpenRequest['event'], asked: object): boolean {
  const plain = (event: object) =>
    JSON.parse(JSON.stringify({ ...event, requestId: undefined, mcpRequestId: undefined }));
  return isDeepStrictEqual(plain(before), plain(asked));
}

/** A page that a client can open without harm to itself. */
function requireAddress(url: string | undefined): void {
  const parsed = url === undefined || !URL.canParse(url) ? undefined : new URL(url);
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:')
    throw new UnfitForm('url', 'must be the http or https address of a page');
  if (parsed.username !== '' || parsed.password !== '')
    throw new UnfitForm('url', 'must have no user name and no password in it');
}
