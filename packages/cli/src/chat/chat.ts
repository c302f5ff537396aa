import { isCopilotConfigured } from '@groundcrew/model-access';
import type { Client, ResumeSessionOptions, Session } from '@groundcrew/sdk';
import type { Config } from '../config/config.js';
import { Dialogue } from '../dialogue/dialogue.js';
import { placeOf } from '../dialogue/place.js';
import { entryOf } from '../flags/arguments.js';
import type { FlagValues } from '../flags/flags.js';
import { openSession, type sessionFlags } from '../sessions/session-choice.js';
import { type TurnStart, takeTurn } from '../sessions/turn.js';
import type { Display } from '../terminal/display.js';
import type { LineInput } from '../terminal/line-input.js';
import { exitCodes, hasColours, type Terminal } from '../terminal/terminal.js';
import { chatCommands } from './commands.js';
import { lastExchange } from './last-exchange.js';

/** What a chat is given. */
export interface ChatOptions {
  readonly client: Client;
  readonly config: Config;
  readonly flags: FlagValues<typeof sessionFlags>;
  readonly lines: LineInput;
  readonly display: Display;
  /** A user reads and types, and gets hints. */
  readonly isTerminal: boolean;
  /** Tools of the app that embeds the chat. */
  readonly options?: ResumeSessionOptions;
}

/** A conversation, line by line: prompts, commands, and answers to questions. */
export class Chat {
  private session: Session | undefined;
  /** Stops the turn that runs. */
  private turn: AbortController | undefined;
  /** Ctrl-C was pressed once. */
  private isWarned = false;
  private quit: (code: number) => void = () => undefined;
  private readonly dialogue: Dialogue;

  constructor(
    private readonly given: ChatOptions,
    private readonly terminal: Pick<
      Terminal,
      'onStop' | 'version' | 'workingDirectory' | 'environment' | 'errorOutput'
    >,
  ) {
    const { lines, display, isTerminal, config } = given;
    this.dialogue = new Dialogue({
      asker: lines,
      display,
      isTerminal,
      allow: config.allow,
      hasColours: hasColours(terminal),
      place: () => placeOf(this.session, terminal.workingDirectory),
    });
  }

  /** Resolves with the exit code when the input or the user's patience ends. */
  async run(): Promise<number> {
    const { lines } = this.given;
    const closed = new Promise<number>((resolve) => {
      this.quit = resolve;
    });
    const undo = this.terminal.onStop((signal) =>
      signal === 'SIGINT' ? this.interrupt() : this.quit(exitCodes[signal]),
    );
    lines.onInterrupt(() => this.interrupt());
    try {
      await this.open(this.given.flags);
      if (this.given.isTerminal) await this.greet();
      if (this.given.flags.resume !== undefined) await this.recall();
      return await Promise.race([this.talk(), closed]);
    } finally {
      undo();
    }
  }

  private async open(flags: FlagValues<typeof sessionFlags>): Promise<void> {
    const { client, config, display, options } = this.given;
    this.session = await openSession(client, {
      flags,
      config,
      workingDirectory: this.terminal.workingDirectory,
      environment: this.terminal.environment,
      options: {
        ...options,
        onPermissionRequest: this.dialogue.decide,
        onUserInputRequest: this.dialogue.answer,
        onExitPlanModeRequest: this.dialogue.approvePlan,
        onAutoModeSwitchRequest: this.dialogue.switchModel,
        onElicitationRequest: this.dialogue.fillIn,
        onSessionLimitsRequest: this.dialogue.spendMore,
        onEvent: (event) => display.show(event),
      },
    });
  }

  /** Leaves the session for a new one, which is opened as the first was. */
  private async begin(): Promise<void> {
    const before = this.session;
    const { resume: _resume, sessionId: _sessionId, ...shape } = this.given.flags;
    await this.open(shape);
    await before?.disconnect();
    this.given.display.note(`This is session ${this.session?.sessionId} now, a new one`);
  }

  /** Leaves the session for another. */
  private async resume(sessionId: string): Promise<void> {
    const before = this.session;
    await this.open({ resume: sessionId });
    await before?.disconnect();
    this.given.display.note(`This is session ${sessionId} now`);
    await this.recall();
  }

  /** Shows where a resumed session stands: its last exchange, and its directory where that is another one. */
  private async recall(): Promise<void> {
    const { session } = this;
    if (!session) return;
    const { display } = this.given;
    const { workingDirectory } = this.terminal;
    const directory = await this.directory();
    if (directory !== workingDirectory)
      display.note(`It works in ${directory}; you are in ${workingDirectory}`);
    for (const line of lastExchange(await session.getMessages())) display.note(line);
  }

  /** Where the session works. */
  private async directory(): Promise<string> {
    const { session } = this;
    const known = session && (await this.given.client.getSessionMetadata(session.sessionId));
    return known?.context?.workingDirectory ?? this.terminal.workingDirectory;
  }

  private async talk(): Promise<number> {
    for (;;) {
      const line = await this.given.lines.next('> ');
      if (line === undefined) return exitCodes.done;
      this.isWarned = false;
      const text = line.trim();
      if (text.startsWith('/')) {
        if ((await this.obey(text)) === 'quit') return exitCodes.done;
      } else if (text !== '') await this.ask(text);
    }
  }

  private async ask(start: TurnStart): Promise<void> {
    const { session } = this;
    if (!session) return;
    const { display } = this.given;
    this.turn = new AbortController();
    try {
      const end = await takeTurn(session, start, this.turn.signal);
      display.endLine();
      if (end.type !== 'done') display.note(end.type === 'failed' ? `error: ${end.message}` : 'stopped');
    } catch (error) {
      display.endLine();
      display.note(`error: ${messageOf(error)}`);
    } finally {
      this.turn = undefined;
    }
  }

  private async obey(text: string): Promise<'quit' | undefined> {
    const { client, config, display } = this.given;
    const [name = '', ...words] = text.split(/\s+/);
    const command = entryOf(chatCommands, name);
    const { session } = this;
    if (!command || !session) {
      if (session && (await isSkill(session, name.slice(1))))
        await this.ask({ command: name.slice(1), args: text.slice(name.length).trim() });
      else display.note(`There is no ${name}; /help lists the commands`);
      return undefined;
    }
    try {
      const print = (line: string) => display.note(line);
      const resume = (sessionId: string) => this.resume(sessionId);
      const begin = () => this.begin();
      const context = { client, config, session, print, begin, resume, word: words[0] };
      return (await command.run(context)) ?? undefined;
    } catch (error) {
      display.note(`error: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** The first stops what runs, the second ends the program. */
  private interrupt(): void {
    if (this.isWarned) {
      this.quit(exitCodes.SIGINT);
      return;
    }
    this.isWarned = true;
    const { display, lines } = this.given;
    display.note(this.turn ? 'stopping; Ctrl-C again to quit' : 'Ctrl-C again to quit');
    if (this.turn) this.turn.abort();
    else lines.promptAgain();
  }

  private async greet(): Promise<void> {
    const { version, environment } = this.terminal;
    const { display, config } = this.given;
    const isOffline = !config.provider && !isCopilotConfigured(environment);
    const current = await this.session?.call('session.model.getCurrent');
    const model = current?.modelId ?? (isOffline ? 'offline' : config.provider?.config.modelId);
    display.note([`groundcrew ${version}`, model, '/help for help'].filter(Boolean).join(' · '));
  }
}

/** Users start skills as commands. */
async function isSkill(session: Session, name: string): Promise<boolean> {
  const params = { includeBuiltins: false, includeClientCommands: false, includeSkills: true };
  const { commands } = await session.call('session.commands.list', params);
  return commands.some((command) => command.kind === 'skill' && command.name === name);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
