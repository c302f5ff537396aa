import { statSync } from 'node:fs';
import type { Client, ConnectionLost, Reconnected } from '@groundcrew/sdk';
import { Asking } from '../ask/asking.js';
import { handlersFor } from '../ask/handlers.js';
import { type Command, Refusal } from '../commands/command.js';
import { commands } from '../commands/commands.js';
import { Conversation } from '../conversation/conversation.js';
import { attachmentsOf } from '../input/attachments.js';
import { type Key, KeyReader } from '../input/keys.js';
import type { SessionChoice, TerminalContext } from '../terminal-context.js';
import { cleanLine, cleanLines } from '../text/clean.js';
import { type Line, line, span, wrap } from '../text/span.js';
import { InputLine } from './input-line.js';
import { View } from './view.js';

/** The user interface of the program in a terminal: one session at a time, what it shows and what users type. */
export class TerminalUi {
  private readonly asking = new Asking(() => this.view.changed());
  private readonly view: View;
  private readonly inputLine: InputLine;
  private conversation: Conversation;
  private client: Client | undefined;
  private quit: (code: number) => void = () => undefined;
  private directory: string;
  private isWarned = false;
  private warning: NodeJS.Timeout | undefined;
  private lastTyped = 0;
  /** The last key was a paste that answers no question. */
  private hasPasted = false;
  /** The session that is meant is open; what is entered before waits for it. It never fails. */
  private ready: Promise<void> = Promise.resolve();

  constructor(private readonly context: TerminalContext) {
    this.directory = context.workingDirectory;
    this.conversation = this.newConversation();
    this.view = new View(context, {
      asking: this.asking,
      conversation: () => this.conversation,
      input: () => this.inputLine,
    });
    this.inputLine = new InputLine({
      historyFile: context.historyFile,
      directory: () => this.directory,
      onChange: () => this.view.changed(),
      session: () => this.conversation.session,
      submit: (text) => this.submit(text, 'enqueue'),
      steer: (text) => this.submit(text, 'immediate'),
      takeBack: () => void this.takeBack(),
      isBusy: () => this.isBusy,
    });
  }

  /** Resolves with the exit code. */
  async run(): Promise<number> {
    const { context, view } = this;
    const closed = new Promise<number>((resolve) => {
      this.quit = resolve;
    });
    const reader = new KeyReader((key) => this.onKey(key));
    const onData = (chunk: string) => reader.feed(chunk);
    const undo = context.onStop((signal) =>
      signal === 'SIGINT' ? this.interrupt() : this.quit(context.exitCodes[signal]),
    );
    view.open();
    context.input.on('data', onData);
    context.input.once('end', () => this.quit(context.exitCodes.done));
    let close: (() => Promise<void>) | undefined;
    try {
      const opened = await context.openClient({
        onConnectionLost: (lost) => this.onLost(lost),
        onReconnected: (reconnected) => void this.onReconnected(reconnected),
        onWarning: (message) => this.say(line(`! ${cleanLine(message)}`, 'warning')),
      });
      close = opened.close;
      this.client = opened.client;
      const opening = this.open({ type: 'first' });
      this.ready = opening.catch(() => undefined);
      // Who leaves waits for no session that a silent server never opens.
      await Promise.race([opening, closed]);
      return await closed;
    } finally {
      undo();
      clearTimeout(this.warning);
      reader.close();
      context.input.off('data', onData);
      view.close(this.farewell());
      await close?.();
    }
  }

  private get isBusy(): boolean {
    return this.conversation.isBusy;
  }

  private newConversation(): Conversation {
    return new Conversation(
      () => (this.context.output.columns || 80) - 1,
      () => this.view.changed(),
    );
  }

  /** Opens a session in the place of the one before. */
  private async open(choice: SessionChoice): Promise<void> {
    const { client, context } = this;
    if (!client) return;
    const before = this.conversation.session;
    const next = this.newConversation();
    const { session, isNew } = await context.openSession(client, choice, {
      ...handlersFor({
        asking: this.asking,
        approvals: context.approvals(() => next.session),
        columns: () => (context.output.columns || 80) - 1,
      }),
      onEvent: next.receive,
    });
    const isSame = before?.sessionId === session.sessionId;
    const { printer, transcript } = this.conversation;
    const shown = isSame ? printer.storedCount(transcript) : 0;
    this.conversation = next;
    await next.attach(session, { isNew, shown });
    if (before && !isSame) await before.disconnect().catch(() => undefined);
    await this.readDirectory(client, session.sessionId);
    await this.inputLine.readCommands();
    if (!isSame) this.greet(choice);
    const { modelId } = await session.call('session.model.getCurrent').catch(() => ({ modelId: undefined }));
    this.view.model = modelId ?? context.usualModel;
    this.view.connection = 'connected';
    this.view.changed();
  }

  private async readDirectory(client: Client, sessionId: string): Promise<void> {
    const known = await client.getSessionMetadata(sessionId).catch(() => undefined);
    const place = known?.context?.workingDirectory;
    this.directory = place !== undefined && isDirectory(place) ? place : this.context.workingDirectory;
  }

  private greet({ type }: SessionChoice): void {
    const { context, conversation, directory } = this;
    const id = conversation.session?.sessionId ?? '';
    if (type === 'first')
      this.say(line(`groundcrew ${context.version} · /help for help`, 'dim'), line(`session ${id}`, 'dim'));
    else this.say(line(`· this is session ${id} now`, 'dim'));
    if (directory !== context.workingDirectory)
      this.say(line(`· it works in ${cleanLine(directory)}`, 'dim'));
  }

  private readonly onKey = (key: Key): void => {
    const isInterrupt = key.type === 'key' && key.ctrl && key.name === 'c';
    if (!isInterrupt) this.calm();
    if (isInterrupt) this.interrupt();
    else if (key.type === 'key' && key.ctrl && key.name === 'd' && this.inputLine.isEmpty)
      this.quit(this.context.exitCodes.done);
    else if (key.type === 'key' && key.ctrl && key.name === 'o') this.unfold();
    else if (key.type === 'key' && key.ctrl && key.name === 'z') this.view.suspend();
    else if (this.isForPrompt(key)) this.inputLine.take(key);
    else if (this.mayAnswer()) this.asking.take(key);
    else {
      this.lastTyped = Date.now();
      this.inputLine.take(key);
    }
  };

  /** A paste is no choice: where a question takes no words it is kept for the next prompt, and so is the Enter that follows it. */
  private isForPrompt(key: Key): boolean {
    const hadPasted = this.hasPasted;
    const isSeen = this.mayAnswer();
    this.hasPasted = key.type === 'paste' && !(isSeen && this.asking.takesWords);
    if (!this.asking.current) return false;
    // Whoever had seen the question before the paste is not writing now.
    if (isSeen) this.lastTyped = 0;
    if (hadPasted !== this.hasPasted) this.asking.say(this.hasPasted ? pasteKept : undefined);
    return this.hasPasted || (hadPasted && key.type === 'key' && key.name === 'enter');
  }

  /** What was being written when a question came is no answer to it: a short silence shows that it was seen. */
  private mayAnswer(): boolean {
    if (!this.asking.current) return false;
    const isWriting = !this.inputLine.isEmpty && Date.now() - this.lastTyped < unseenFor;
    return !isWriting;
  }

  private submit(text: string, mode: 'enqueue' | 'immediate'): void {
    this.ready = this.ready.then(() => this.enter(text, mode));
  }

  /** Resolves when what is entered next can be taken: at once, unless another session is being opened. */
  private async enter(text: string, mode: 'enqueue' | 'immediate'): Promise<void> {
    const [name = ''] = text.split(/\s/);
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    // A path is no command.
    const isPrompt = !command && (!text.startsWith('/') || /^\/\S*\//.test(name));
    const done = isPrompt ? this.send(text, mode) : this.obey(text, name, command);
    if (command?.opensSession) await done;
  }

  private async send(text: string, mode: 'enqueue' | 'immediate'): Promise<void> {
    const { session } = this.conversation;
    if (!session) return;
    try {
      const attachments = attachmentsOf(text, this.directory);
      const sent = { prompt: text, ...(attachments.length > 0 && { attachments }) };
      if (this.view.connection === 'lost') await this.open({ type: 'resume', sessionId: session.sessionId });
      const mayJoin = this.isBusy && { mode };
      if (!mayJoin) this.conversation.isAwaited = true;
      await this.conversation.session?.send({ ...sent, ...mayJoin });
    } catch (error) {
      this.conversation.isAwaited = false;
      this.fail(error);
      this.inputLine.giveBack(text);
    }
  }

  private async obey(text: string, name: string, command: Command | undefined): Promise<void> {
    const args = text.slice(name.length).trim();
    const { client, conversation } = this;
    const { session } = conversation;
    if (!client || !session) return;
    this.say([], [span('❯ ', 'user'), span(text, 'dim')]);
    try {
      if (command)
        await command.run({
          client,
          session,
          conversation,
          args,
          workingDirectory: this.context.workingDirectory,
          print: (...lines) =>
            this.say(...lines.map((each) => (typeof each === 'string' ? line(each) : each))),
          choose: (title, options) => this.choose(title, options),
          open: (choice) => this.open(choice),
          findSession: (word) => this.context.findSession(client, word),
          write: (words) => this.inputLine.giveBack(words),
          leave: () => this.quit(this.context.exitCodes.done),
        });
      else if (this.inputLine.isCommand(name)) {
        const { error } = await session.call('session.commands.execute', {
          commandName: name.slice(1),
          args,
        });
        if (error !== undefined) throw new Refusal(error);
      } else throw new Refusal(`There is no ${name}; /help lists the commands`);
    } catch (error) {
      this.fail(error);
    }
  }

  private choose<T>(
    title: string,
    options: readonly { readonly label: string; readonly value: T }[],
  ): Promise<T | undefined> {
    return this.asking.ask(
      {
        body: [line(title, 'bold')],
        options,
        canCancel: true,
        read: ({ value }) => ({ answer: value }),
      },
      new AbortController().signal,
    );
  }

  private async takeBack(): Promise<void> {
    const { session, queue } = this.conversation;
    const last = queue.at(-1);
    if (!session || last === undefined) return;
    const { removed } = await session
      .call('session.queue.removeMostRecent')
      .catch(() => ({ removed: false }));
    if (removed) this.inputLine.giveBack(last);
  }

  private unfold(): void {
    const folded = this.conversation.printer.unfold();
    if (!folded) return;
    this.say([], line(`── ${folded.title}`, 'dim'), ...folded.lines, line('──', 'dim'));
  }

  /** The first stops what runs, the second ends the program. */
  private interrupt(): void {
    if (this.isWarned) {
      this.quit(this.context.exitCodes.SIGINT);
      return;
    }
    this.isWarned = true;
    this.view.hint = 'Ctrl-C again to leave';
    this.warning = setTimeout(() => this.calm(), warnedFor);
    if (this.asking.current?.question.canCancel) this.asking.current.settle(undefined);
    else if (this.isBusy) void this.conversation.session?.abort().catch((error: unknown) => this.fail(error));
    else this.inputLine.clear();
    this.view.changed();
  }

  private calm(): void {
    clearTimeout(this.warning);
    if (!this.isWarned) return;
    this.isWarned = false;
    this.view.hint = undefined;
    this.view.changed();
  }

  private onLost({ error, willReconnect }: ConnectionLost): void {
    this.view.connection = willReconnect ? 'reconnecting' : 'lost';
    this.say(line(`! ${cleanLine(error.message)}${willReconnect ? '; trying again' : ''}`, 'warning'));
    if (!willReconnect) this.say(line('! The next prompt tries once more', 'warning'));
  }

  private async onReconnected({ failed }: Reconnected): Promise<void> {
    this.view.connection = 'connected';
    const id = this.conversation.session?.sessionId;
    const lost = failed.find(({ sessionId }) => sessionId === id);
    this.say(line(lost ? `✖ ${cleanLine(lost.error.message)}` : '· connected again', lost ? 'bad' : 'dim'));
    const hasBegun = this.conversation.transcript.main.items.some(({ type }) => type === 'prompt');
    // A session without a prompt may not have been stored: nothing is lost with it.
    if (lost && !hasBegun) await this.open({ type: 'new' }).catch((error: unknown) => this.fail(error));
    else if (lost) this.view.connection = 'lost';
    await this.conversation.readFacts();
  }

  private fail(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    const [first = '', ...rest] = cleanLines(text);
    this.say(...[`✖ ${first}`, ...rest].map((each) => line(each, 'bad')));
  }

  private say(...lines: readonly Line[]): void {
    const columns = (this.context.output.columns || 80) - 1;
    this.view.print(lines.flatMap((each) => wrap(each, columns, [span('  ')])));
  }

  private farewell(): readonly Line[] {
    const { session, transcript } = this.conversation;
    const hasBegun = transcript.main.items.some(({ type }) => type === 'prompt');
    return session && hasBegun ? [line(`To go on: groundcrew --resume ${session.sessionId}`, 'dim')] : [];
  }
}

/** False too where it cannot be looked at. */
function isDirectory(place: string): boolean {
  try {
    return statSync(place).isDirectory();
  } catch {
    return false;
  }
}

const pasteKept = 'The paste is kept for the next prompt; Enter now sends it, and answers nothing';

/** Milliseconds in which a second Ctrl-C leaves. */
const warnedFor = 3_000;

/** Milliseconds after the last key in which a question is taken for unseen. */
const unseenFor = 500;
