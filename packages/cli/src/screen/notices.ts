import { Writable } from 'node:stream';

/** Takes what would go to stderr, line by line, until a screen shows it: written past it, it would spoil the screen. */
export class Notices extends Writable {
  private readonly held: string[] = [];
  private show: ((line: string) => void) | undefined;
  private rest = '';

  /** From now on lines are shown there, those that came before first; without a place, they are held. */
  showBy(show: ((line: string) => void) | undefined): void {
    this.show = show;
    if (show) for (const line of this.held.splice(0)) show(line);
  }

  /** What no screen has shown. */
  get left(): readonly string[] {
    return this.held;
  }

  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    const lines = (this.rest + chunk.toString()).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines)
      if (this.show) this.show(line);
      else this.held.push(line);
    done();
  }
}
