/** What a terminal is asked for while the face is there: raw keys, marked pastes, keys with their modifiers. */
export class TerminalModes {
  constructor(
    private readonly input: NodeJS.ReadStream,
    private readonly output: NodeJS.WriteStream,
  ) {}

  enter(): void {
    this.input.setRawMode?.(true);
    this.input.setEncoding('utf8');
    this.input.resume();
    this.output.write('\u001b[?2004h\u001b[>1u');
  }

  leave(): void {
    this.output.write('\u001b[<u\u001b[?2004l\u001b[?25h');
    this.input.setRawMode?.(false);
    this.input.pause();
  }
}
