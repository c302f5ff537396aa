import type { Session } from '@groundcrew/sdk';
import { commandChoices } from '../commands/commands.js';
import { accepted, type Completion, complete } from '../input/completion.js';
import { type Draft, draftOf, edit, emptyDraft, wholeText } from '../input/editor.js';
import { FileList } from '../input/files.js';
import { History } from '../input/history.js';
import type { Key } from '../input/keys.js';

/** What an input line is given, and what it reports. */
export interface InputLineOptions {
  readonly historyFile: string | undefined;
  directory(): string;
  session(): Session | undefined;
  isBusy(): boolean;
  onChange(): void;
  submit(text: string): void;
  /** Into the turn that runs. */
  steer(text: string): void;
  /** The prompt that waits last. */
  takeBack(): void;
}

const mostMatches = 50;

/** Where the next prompt is written. */
export class InputLine {
  draft: Draft = emptyDraft;
  completion: Completion | undefined;
  private readonly history: History;
  private files: FileList;
  private skills: readonly { readonly name: string; readonly description: string }[] = [];

  constructor(private readonly options: InputLineOptions) {
    this.history = new History(options.historyFile);
    this.files = this.listFiles();
  }

  get isEmpty(): boolean {
    return this.draft.text === '';
  }

  /** Whether a client or a skill has a command of this name. */
  isCommand(name: string): boolean {
    return this.skills.some((each) => `/${each.name}` === name);
  }

  /** Reads the commands that the session has beside those of the program. */
  async readCommands(): Promise<void> {
    this.files = this.listFiles();
    const params = { includeBuiltins: false, includeClientCommands: true, includeSkills: true };
    const found = await this.options
      .session()
      ?.call('session.commands.list', params)
      .catch(() => undefined);
    this.skills = found?.commands ?? [];
  }

  clear(): void {
    this.change(emptyDraft);
  }

  /** Puts a text back, before what was written since. */
  giveBack(text: string): void {
    const written = wholeText(this.draft);
    this.change(draftOf(written === '' ? text : `${text}\n${written}`));
  }

  take(key: Key): void {
    if (key.type === 'key' && this.takeCompletion(key)) return;
    const changed = edit(this.draft, key);
    if (changed) {
      this.change(changed);
      return;
    }
    if (key.type !== 'key') return;
    if (key.name === 'enter') this.submit();
    else if (key.name === 'escape') this.escape();
    else if (key.name === 'up') this.look(-1);
    else if (key.name === 'down') this.look(1);
  }

  private takeCompletion(key: Extract<Key, { type: 'key' }>): boolean {
    const { completion } = this;
    if (!completion) return false;
    const { choices, chosen } = completion;
    if (key.name === 'escape') this.completion = undefined;
    else if (key.name === 'up')
      this.completion = { ...completion, chosen: (chosen + choices.length - 1) % choices.length };
    else if (key.name === 'down') this.completion = { ...completion, chosen: (chosen + 1) % choices.length };
    else if (key.name === 'tab' || (key.name === 'enter' && !this.isWhole(completion)))
      this.change(accepted(this.draft, completion));
    else return false;
    this.options.onChange();
    return true;
  }

  /** A command that is written out is sent by Enter, even if longer ones begin with it. */
  private isWhole({ choices }: Completion): boolean {
    return choices.some(({ text }) => text === this.draft.text);
  }

  private submit(): void {
    const text = this.taken();
    if (text !== '') this.options.submit(text);
  }

  private escape(): void {
    if (!this.options.isBusy()) return;
    if (this.isEmpty) {
      this.options.takeBack();
      return;
    }
    const text = this.taken();
    if (text !== '') this.options.steer(text);
  }

  private taken(): string {
    const text = wholeText(this.draft).trim();
    this.history.add(text);
    this.change(emptyDraft);
    return text;
  }

  private look(by: 1 | -1): void {
    const text = this.history.move(by, wholeText(this.draft));
    if (text === undefined) return;
    this.draft = draftOf(text);
    this.completion = undefined;
    this.options.onChange();
  }

  private change(draft: Draft): void {
    this.draft = draft;
    this.complete();
    this.options.onChange();
  }

  private complete(): void {
    this.completion = complete(this.draft, {
      commands: (wanted) => commandChoices(wanted, this.skills),
      files: (wanted) => this.files.matches(wanted, mostMatches),
    });
  }

  private listFiles(): FileList {
    return new FileList(this.options.directory(), () => {
      this.complete();
      this.options.onChange();
    });
  }
}
