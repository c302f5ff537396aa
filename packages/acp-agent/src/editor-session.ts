import { randomUUID } from 'node:crypto';
import {
  type AgentContext,
  type ContentBlock,
  type PlanEntry,
  RequestError,
  type StopReason,
} from '@agentclientprotocol/sdk';
import type { EventData, Session, SessionEvent } from '@groundcrew/sdk';
import type { Update } from './editor-context.js';
import { type EditorPrompt, promptOf } from './prompt-content.js';
import { SessionSettings } from './settings.js';
import { type ShownTo, Updates } from './updates.js';

/** What a session of an editor is made of. */
export interface EditorSessionParts {
  readonly editor: AgentContext;
  readonly workingDirectory: string;
  readonly shown: ShownTo;
  warn(message: string): void;
}

interface Turn {
  readonly stop: AbortController;
  isCancelled: boolean;
}

/** One session that an editor has open. */
export class EditorSession {
  private readonly updates: Updates;
  private readonly turns = new Set<Turn>();
  private opened: { readonly session: Session; readonly settings: SessionSettings } | undefined;
  /** Events that came before the editor was shown what is stored. */
  private early: SessionEvent[] | undefined = [];
  private sending: Promise<void> = Promise.resolve();
  private finishReason: string | undefined;
  private error: EventData<'session.error'> | undefined;
  /** Calls that were asked for while this agent was there. */
  private readonly liveCalls = new Set<string>();
  private show: () => void = () => undefined;
  /** The editor was shown all that came before it opened the session. */
  readonly ready = new Promise<void>((resolve) => {
    this.show = resolve;
  });

  constructor(private readonly parts: EditorSessionParts) {
    this.updates = new Updates(parts.workingDirectory, parts.shown);
  }

  get session(): Session {
    if (!this.opened) throw new Error('The session is not open yet');
    return this.opened.session;
  }

  get settings(): SessionSettings {
    if (!this.opened) throw new Error('The session is not open yet');
    return this.opened.settings;
  }

  /** Undefined before the runtime has opened it. */
  get known(): Session | undefined {
    return this.opened?.session;
  }

  /** Called for each event, from the first on. */
  readonly receive = (event: SessionEvent): void => {
    if (event.type === 'external_tool.requested') this.liveCalls.add(event.data.toolCallId);
    if (this.early) this.early.push(event);
    else this.take(event);
  };

  /** The runtime has opened it. With `replay` the editor is shown all that was said and done, else only what comes. */
  async attach(session: Session, { replay }: { readonly replay: boolean }): Promise<void> {
    this.opened = { session, settings: new SessionSettings(session) };
    const stored = replay ? await session.getEvents() : [];
    for (const event of stored) for (const update of this.updates.of(event)) this.send(update);
    if (replay) await this.showPlan();
    const known = new Set(stored.map(({ id }) => id));
    const early = this.early ?? [];
    this.early = undefined;
    for (const event of early)
      if (!known.has(event.id) && (!replay || event.type !== 'session.start')) this.take(event);
    await this.sending;
  }

  /** Whether a call was asked for while this agent was there. */
  isLive(toolCallId: string): boolean {
    return this.liveCalls.has(toolCallId);
  }

  /** A call shows what a terminal of the editor has. */
  showTerminal(toolCallId: string, terminalId: string): void {
    this.send(this.updates.terminal(toolCallId, terminalId));
  }

  /** The editor knows the session by its id now: what else belongs to it follows the answer. */
  announce(): void {
    setImmediate(() => {
      this.show();
      void this.showCommands();
    });
  }

  /** Gives the session a prompt; resolves when its turn is over and the editor was shown all of it. */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const message = promptOf(blocks);
    const turn: Turn = { stop: new AbortController(), isCancelled: false };
    const messageId = randomUUID();
    // Only an editor that says so stops the turn: one that is gone may come back to it.
    const cancel = () =>
      signal.reason instanceof RequestError ? void this.cancel() : turn.stop.abort(signal.reason);
    this.turns.add(turn);
    this.updates.sent(messageId);
    this.finishReason = undefined;
    this.error = undefined;
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const given = await this.commandOf(message);
      await this.session.sendAndWait({ ...given, messageId }, Number.POSITIVE_INFINITY, turn.stop.signal);
      await this.sending;
      return turn.isCancelled ? 'cancelled' : stopReasonOf(this.finishReason);
    } catch (error) {
      await this.sending;
      if (turn.isCancelled) return 'cancelled';
      throw this.failure(error);
    } finally {
      signal.removeEventListener('abort', cancel);
      this.turns.delete(turn);
    }
  }

  /** Stops what runs and takes back what waits; prompts that are open end as cancelled. */
  async cancel(): Promise<void> {
    const turns = [...this.turns];
    for (const turn of turns) turn.isCancelled = true;
    try {
      await this.session.call('session.queue.clear');
      await this.session.abort();
      const { processing } = await this.session.call('session.metadata.isProcessing');
      if (!processing) for (const { stop } of turns) stop.abort();
    } catch (error) {
      this.parts.warn(`The turn could not be stopped: ${textOf(error)}`);
      for (const { stop } of turns) stop.abort();
    }
  }

  /** Leaves the session, which stays stored; what runs is stopped. */
  async close(): Promise<void> {
    if (this.turns.size > 0) await this.cancel();
    await this.session.disconnect();
    await this.sending;
  }

  /** `/name words` of a skill is what the skill says. */
  private async commandOf(message: EditorPrompt): Promise<EditorPrompt> {
    const [, name, input = ''] = /^\/([\w:-]+)(?:\s+([\s\S]*))?$/.exec(message.prompt) ?? [];
    if (name === undefined) return message;
    const { commands } = await this.session.call('session.commands.list', { includeSkills: true });
    if (!commands.some((command) => command.name === name && command.kind === 'skill')) return message;
    const outcome = await this.session.call('session.commands.invoke', { name, input });
    if (outcome.kind !== 'agent-prompt') return message;
    return { ...message, prompt: outcome.prompt, displayPrompt: outcome.displayPrompt };
  }

  private take(event: SessionEvent): void {
    if (event.agentId === undefined) {
      if (event.type === 'assistant.usage') this.finishReason = event.data.finishReason;
      if (event.type === 'session.error') this.error = event.data;
    }
    for (const update of this.updates.of(event)) this.send(update);
    if (event.type === 'session.todos_changed') void this.showPlan();
    if (settingEvents.has(event.type)) void this.showOptions();
  }

  private send(update: Update): void {
    const { editor, warn } = this.parts;
    const { sessionId } = this.session;
    this.sending = this.sending
      .then(() => editor.notify('session/update', { sessionId, update }))
      // An editor that is gone ends the connection, and with it this program.
      .catch((error: unknown) => warn(`An update was not delivered: ${textOf(error)}`));
  }

  private async showPlan(): Promise<void> {
    const found = await this.session.call('session.plan.readSqlTodos').catch(() => undefined);
    if (!found || found.rows.length === 0) return;
    const entries = found.rows.map(
      ({ title = '', id = '', status = 'pending' }): PlanEntry => ({
        content: title || id,
        priority: 'medium',
        status: planStatus(status),
      }),
    );
    this.send({ sessionUpdate: 'plan', entries });
  }

  private async showOptions(): Promise<void> {
    const configOptions = await this.settings.options().catch(() => undefined);
    if (configOptions) this.send({ sessionUpdate: 'config_option_update', configOptions });
  }

  private async showCommands(): Promise<void> {
    const found = await this.session
      .call('session.commands.list', { includeBuiltins: false, includeSkills: true })
      .catch(() => undefined);
    const skills = (found?.commands ?? []).filter(({ kind }) => kind === 'skill');
    const availableCommands = skills.map(({ name, description, input }) => ({
      name,
      description,
      ...(input && { input }),
    }));
    this.send({ sessionUpdate: 'available_commands_update', availableCommands });
  }

  private failure(error: unknown): RequestError {
    const { error: known } = this;
    if (known?.errorType === 'authorization') return RequestError.authRequired(undefined, known.message);
    const data = known && { errorType: known.errorType };
    return RequestError.internalError(data, known?.message ?? textOf(error));
  }
}

const settingEvents: ReadonlySet<string> = new Set([
  'session.mode_changed',
  'session.model_change',
  'session.permissions_changed',
  'subagent.selected',
  'subagent.deselected',
]);

function stopReasonOf(finishReason: string | undefined): StopReason {
  if (finishReason === 'length') return 'max_tokens';
  return finishReason === 'refused' ? 'refusal' : 'end_turn';
}

function planStatus(status: string): PlanEntry['status'] {
  if (status === 'done' || status === 'completed') return 'completed';
  return status === 'in_progress' ? 'in_progress' : 'pending';
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
