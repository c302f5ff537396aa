/** Something that was typed. */
export type Key =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'paste'; readonly text: string }
  | {
      readonly type: 'key';
      readonly name: KeyName;
      readonly ctrl: boolean;
      readonly alt: boolean;
      readonly shift: boolean;
    };

type Held = { readonly ctrl: boolean; readonly alt: boolean; readonly shift: boolean };

/** Keys that are no text; letters with Ctrl or Alt go by the letter. */
export type KeyName = string;

/** How long the rest of a sequence may take: a lone Escape is known when nothing follows. */
const escapePatience = 40;

/** How long the rest of a terminal's answer may take: nobody types the beginning of one within a moment. */
const answerPatience = 1_000;

/** Reads what a terminal sends: text, keys and whole pastes, however it is cut into pieces. */
export class KeyReader {
  private rest = '';
  private paste: string[] | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly onKey: (key: Key) => void) {}

  feed(piece: string): void {
    clearTimeout(this.timer);
    // The end of a paste may be lost on the way: Ctrl-C by itself is a key again, whatever was begun.
    if (this.paste && piece === '\u0003') {
      this.paste = undefined;
      this.rest = '';
    }
    this.rest += piece;
    this.read({ isOver: false });
    if (this.rest === '' || this.paste) return;
    const patience = answerBegin.test(this.rest) ? answerPatience : escapePatience;
    this.timer = setTimeout(() => this.read({ isOver: true }), patience);
  }

  close(): void {
    clearTimeout(this.timer);
  }

  private read(options: { readonly isOver: boolean }): void {
    while (this.rest !== '') {
      if (this.paste) {
        if (!this.takePaste(this.paste)) return;
      } else if (!this.takeKey(options)) return;
    }
  }

  /** What is between the marks of a paste is text, whatever it contains; the mark itself may come in two pieces. */
  private takePaste(paste: string[]): boolean {
    const end = this.rest.indexOf(pasteEnd);
    if (end >= 0) {
      paste.push(this.rest.slice(0, end));
      this.rest = this.rest.slice(end + pasteEnd.length);
      this.paste = undefined;
      this.onKey({ type: 'paste', text: paste.join('').replace(/\r\n?/g, '\n') });
      return true;
    }
    const kept = partOfEnd(this.rest);
    paste.push(this.rest.slice(0, this.rest.length - kept));
    this.rest = kept === 0 ? '' : this.rest.slice(-kept);
    return false;
  }

  private takeKey({ isOver }: { readonly isOver: boolean }): boolean {
    const { rest } = this;
    if (rest.startsWith(pasteStart)) {
      this.rest = rest.slice(pasteStart.length);
      this.paste = [];
      return true;
    }
    if (rest[0] === '\u001b') return this.takeEscape(isOver);
    const text = plainText.exec(rest)?.[0] ?? '';
    if (text !== '') {
      this.rest = rest.slice(text.length);
      this.onKey({ type: 'text', text });
      return true;
    }
    this.rest = rest.slice(1);
    this.emit(controlName(rest[0] ?? ''), {});
    return true;
  }

  private takeEscape(isOver: boolean): boolean {
    const { rest } = this;
    const answer = answers.exec(rest)?.[0] ?? '';
    if (answer !== '') {
      this.rest = rest.slice(answer.length);
      return true;
    }
    const sequence = csi.exec(rest) ?? ss3.exec(rest);
    if (sequence) {
      this.rest = rest.slice(sequence[0].length);
      this.emitSequence(sequence[1] ?? '', sequence[2] ?? '');
      return true;
    }
    const isPartial = rest.length === 1 || partial.test(rest) || answerBegin.test(rest);
    if (isPartial && !isOver) return false;
    if (rest.length === 1 || rest[1] === '\u001b' || isPartial) {
      this.rest = rest.slice(1);
      this.emit('escape', {});
      return true;
    }
    const [character = ''] = rest.slice(1);
    this.rest = rest.slice(1 + character.length);
    const isControl = character < ' ' || character === '\u007f';
    this.emit(isControl ? controlName(character) : character, { alt: true });
    return true;
  }

  /** Keys by their code, with the modifiers that newer terminals add. */
  private emitSequence(parameters: string, final: string): void {
    const [code = '', modifiers = '1', other = ''] = parameters.split(';');
    const bits = Math.max(0, Number(modifiers.split(':')[0]) - 1);
    const held = { shift: (bits & 1) !== 0, alt: (bits & 2) !== 0, ctrl: (bits & 4) !== 0 };
    if (final === 'u') this.emitCode(code, held);
    else if (final === '~' && code === '27') this.emitCode(other, held);
    else this.emitNamed({ code, final, held });
  }

  /** A key by its character: with Ctrl or Alt the one of the Latin layout, where the terminal names it. */
  private emitCode(codes: string, held: Held): void {
    const [code = '', , latin = ''] = codes.split(':');
    const isText = !held.ctrl && !held.alt;
    const name = codeName(Number(latin === '' || isText ? code : latin));
    if (isText && [...name].length === 1)
      this.onKey({ type: 'text', text: held.shift ? name.toUpperCase() : name });
    else this.emit(name, held);
  }

  private emitNamed(given: { readonly code: string; readonly final: string; readonly held: Held }): void {
    const { code, final, held } = given;
    if (final === 'Z') this.emit('tab', { ...held, shift: true });
    else {
      const name = final === '~' ? numbered[code] : lettered[final];
      if (name !== undefined) this.emit(name, held);
    }
  }

  private emit(name: string, held: Partial<Held>): void {
    const isControl = name.startsWith('ctrl-');
    const { ctrl = isControl, alt = false, shift = false } = held;
    this.onKey({ type: 'key', name: isControl ? name.slice(5) : name, ctrl: ctrl || isControl, alt, shift });
  }
}

const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';

function partOfEnd(text: string): number {
  for (let length = Math.min(pasteEnd.length - 1, text.length); length > 0; length--)
    if (text.endsWith(pasteEnd.slice(0, length))) return length;
  return 0;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are the keys
const plainText = /^[^\u0000-\u001f\u007f]+/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are the keys
const csi = /^\u001b\[([0-9;:?<=>]*)([A-Za-z~^$@])/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are the keys
const ss3 = /^\u001bO()([A-Za-z])/;

/** What a terminal says of itself, asked by a program before this one: strings (DCS, OSC and the like), and private CSI. */
const answers =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are the keys
  /^\u001b(?:[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|\[[?<=>][0-9;:]*[ -/]*[@-~])/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are the keys
const answerBegin = /^\u001b(?:[\]PX^_][^\u0007\u001b]+\u001b?|\[[?<=>][0-9;:]*[ -/]*)$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are the keys
const partial = /^\u001b(?:\[[0-9;:?<=>]*|O)$/;

const lettered: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
};

const numbered: Readonly<Record<string, string>> = {
  '1': 'home',
  '3': 'delete',
  '4': 'end',
  '5': 'pageup',
  '6': 'pagedown',
  '7': 'home',
  '8': 'end',
};

function controlName(character: string): string {
  const code = character.charCodeAt(0);
  switch (code) {
    case 0x0d:
      return 'enter';
    case 0x09:
      return 'tab';
    case 0x7f:
    case 0x08:
      return 'backspace';
    case 0x1b:
      return 'escape';
    default:
      return `ctrl-${String.fromCharCode(code + 0x60)}`;
  }
}

/** The keys of a number pad, as terminals that tell keys apart count them. */
const firstKeypad = 57_399;
const keypad = [
  ...'0123456789./*-+',
  ...['enter', '=', ',', 'left', 'right', 'up', 'down', 'pageup', 'pagedown', 'home', 'end', '', 'delete'],
];

function codeName(code: number): string {
  const known: Readonly<Record<number, string>> = {
    13: 'enter',
    9: 'tab',
    27: 'escape',
    127: 'backspace',
    8: 'backspace',
  };
  if (code >= firstKeypad && code < firstKeypad + keypad.length) return keypad[code - firstKeypad] ?? '';
  return known[code] ?? (code > 0 && code < 0x110000 ? String.fromCodePoint(code) : '');
}
