/** What a terminal is asked for while the user interface is there: raw keys, marked pastes, keys with their modifiers. */
export class TerminalModes {
  private isEntered = false;
  /** A program that ends by a fault gives the terminal back too: writes to one are done before the process is gone. */
  private readonly onExit = () => this.leave();

  constructor(
    private readonly input: NodeJS.ReadStream,
    private readonly output: NodeJS.WriteStream,
  ) {}

  enter(): void {
    if (this.isEntered) return;
    this.isEntered = true;
    this.input.setRawMode?.(true);
    this.input.setEncoding('utf8');
    this.input.resume();
    this.output.write('\u001b[?2004h\u001b[>5u');
    process.once('exit', this.onExit);
  }

  leave(): void {
    if (!this.isEntered) return;
    this.isEntered = false;
    process.off('exit', this.onExit);
    this.output.write('\u001b[<u\u001b[?2004l\u001b[?25h');
    this.input.setRawMode?.(false);
    this.input.pause();
  }
}
