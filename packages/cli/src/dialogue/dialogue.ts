import {
  type AutoModeSwitchHandler,
  type ElicitationHandler,
  type ExitPlanModeHandler,
  type PermissionChoice,
  type PermissionHandler,
  type PermissionRequestResult,
  permissionChoices,
  type SessionLimitsHandler,
  type UserInputHandler,
} from '@groundcrew/sdk';
import { type Allowed, permits } from '../config/allow-rules.js';
import type { Display } from '../terminal/display.js';
import { visible } from '../terminal/visible.js';
import { type Paint, paintFor } from './diff-view.js';
import { askForm } from './form.js';
import { viewRequest } from './request-view.js';

/** Reads a line from users. */
export interface Asker {
  /** Undefined when no user will answer, or when the signal fires. */
  answer(question: string, signal: AbortSignal): Promise<string | undefined>;
}

/** What a dialogue goes by. */
export interface DialogueOptions {
  readonly asker: Asker;
  readonly display: Display;
  /** What runs without a question. */
  readonly allow: Allowed;
  readonly hasColours: boolean;
  /** A user types and sees it; otherwise answers are shown as they are taken. */
  readonly isTerminal: boolean;
  /** The name under which approvals for this place are kept. */
  place(): Promise<string>;
}

/** No user can answer what the agent asks; the model reads that, and goes on. */
export class NoUserError extends Error {
  override readonly name = 'NobodyAnswers';
}

/** Puts the questions of a session to users, one after the other. */
export class Dialogue {
  private readonly paint: Paint;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: DialogueOptions) {
    this.paint = paintFor(options);
  }

  /** May this run? Once, for this session, in this place from now on, or not, and why not. */
  readonly decide: PermissionHandler = (request, invocation, signal) => {
    if (permits(this.options.allow, request, invocation)) return { kind: 'approve-once' };
    return this.inTurn(async () => {
      if (signal.aborted) return { kind: 'no-result' };
      this.show(viewRequest(request, invocation, this.paint));
      const { promptRequest } = invocation;
      const asked = { permissionRequest: request, ...(promptRequest && { promptRequest }) };
      return this.readDecision(permissionChoices(asked, await this.options.place()), signal);
    });
  };

  /** What the agent wants to know. */
  readonly answer: UserInputHandler = (request, _invocation, signal) =>
    this.inTurn(async () => {
      const { question, choices = [], allowFreeform = true } = request;
      this.show([visible(question), ...choices.map((choice, index) => `  ${index + 1}  ${visible(choice)}`)]);
      const mayBeFree = allowFreeform || choices.length === 0;
      for (;;) {
        const typed = await this.read(askFor(choices.length, mayBeFree), signal);
        if (typed === undefined) throw new NoUserError();
        const chosen = choices[Number(typed) - 1] ?? choices.find((choice) => isSame(choice, typed));
        if (chosen !== undefined) return { answer: chosen, wasFreeform: false };
        if (mayBeFree && typed !== '') return { answer: typed, wasFreeform: true };
      }
    });

  /** What follows the plan. */
  readonly approvePlan: ExitPlanModeHandler = ({ summary, planContent, actions }, _invocation, signal) =>
    this.inTurn(async () => {
      this.show([
        `The plan: ${visible(summary)}`,
        ...planContent.split('\n').map((line) => `  ${visible(line)}`),
      ]);
      const said = await this.read(`${actions.join(', ')}, n no, or what to change: `, signal);
      if (said === undefined) throw new NoUserError();
      const selectedAction = actions.find((action) => isSame(action, said));
      if (selectedAction) return { approved: true, selectedAction };
      if (/^y(?:es)?$/i.test(said)) return { approved: true, selectedAction: 'interactive' };
      return { approved: false, ...(!/^(?:no?)?$/i.test(said) && { feedback: said }) };
    });

  /** May another model answer? */
  readonly switchModel: AutoModeSwitchHandler = ({ retryAfterSeconds }, _invocation, signal) =>
    this.inTurn(async () => {
      const wait = retryAfterSeconds === undefined ? '' : ` for ${retryAfterSeconds} seconds`;
      this.show([`The model is rate limited${wait}. Go on with another one?`]);
      const said = await this.read('y yes, a always, n no: ', signal);
      if (said === undefined) return 'no';
      if (/^a(?:lways)?$/i.test(said)) return 'yes_always';
      return /^y(?:es)?$/i.test(said) ? 'yes' : 'no';
    });

  /** Asks how the session continues that has reached a limit. */
  readonly spendMore: SessionLimitsHandler = (request, _invocation, signal) =>
    this.inTurn(async () => {
      const { limit = 'maxAiCredits', max = request.maxAiCredits, used = request.usedAiCredits } = request;
      this.show([`The session has reached a limit: ${used} of ${max} (${limit})`]);
      for (;;) {
        const said = await this.read('how much more, u without this limit, n stop: ', signal);
        if (said === undefined) throw new NoUserError();
        if (/^u$/i.test(said)) return { action: 'unset' };
        if (/^n(?:o)?$/i.test(said)) return { action: 'cancel' };
        if (Number(said) > 0) return { action: 'add', additional: Number(said) };
      }
    });

  /** A form, field by field, or a page to visit. */
  readonly fillIn: ElicitationHandler = (request, { problem }, signal) =>
    this.inTurn(() => {
      const { elicitationSource: source, message } = request;
      this.show([
        ...(problem === undefined ? [] : [`Not taken: ${visible(problem)}`]),
        visible(source ? `${source}: ${message}` : message),
      ]);
      return askForm(
        request,
        (question) => this.read(question, signal),
        (line) => this.show([line]),
      );
    });

  private async readDecision(
    choices: readonly PermissionChoice[],
    signal: AbortSignal,
  ): Promise<PermissionRequestResult> {
    const typed = await this.read(`${choicesText(choices)}, n no, or why not: `, signal);
    if (signal.aborted) return { kind: 'no-result' };
    if (typed === undefined) return { kind: 'user-not-available' };
    const said = typed.toLowerCase();
    const chosen = choices.find(({ scope }) => scopeKeys[scope] === (said === 'yes' ? 'y' : said));
    if (chosen) return chosen.result;
    return { kind: 'reject', feedback: /^(?:no?)?$/i.test(typed) ? 'No.' : typed };
  }

  private async read(question: string, signal: AbortSignal): Promise<string | undefined> {
    const { asker, display, isTerminal } = this.options;
    const answer = (await asker.answer(question, signal))?.trim();
    if (answer !== undefined && !isTerminal) display.note(`  ${visible(answer)}`);
    return answer;
  }

  private show(lines: readonly string[]): void {
    const { display } = this.options;
    display.endLine();
    for (const line of lines) display.note(line);
  }

  private inTurn<T>(ask: () => Promise<T>): Promise<T> {
    const answer = this.last.then(ask);
    this.last = answer.catch(() => undefined);
    return answer;
  }
}

const scopeKeys: Readonly<Record<PermissionChoice['scope'], string>> = {
  once: 'y',
  text: 't',
  session: 's',
  always: 'p',
  deny: 'n',
};

/** What can be approved, on one line. */
function choicesText(choices: readonly PermissionChoice[]): string {
  const covers = choices.find((choice) => choice.covers !== undefined)?.covers;
  const words = choices.flatMap(({ scope, result }) => {
    if (scope === 'once') return ['y once'];
    if (scope === 'text') return ['t this text alone in this session'];
    if (scope === 'session') return ['s this session'];
    if (scope === 'deny') return [];
    return [result.kind === 'approve-permanently' ? 'p always' : 'p this place'];
  });
  return `${words.join(', ')}${covers === undefined ? '' : ` (${visible(covers)})`}`;
}

function askFor(choices: number, mayBeFree: boolean): string {
  if (choices === 0) return 'your answer: ';
  return mayBeFree ? `1 to ${choices}, or your own words: ` : `1 to ${choices}: `;
}

function isSame(choice: string, typed: string): boolean {
  return choice.toLowerCase() === typed.toLowerCase();
}
