const mostWrong = 20;
const windowMilliseconds = 60_000;
const delayMilliseconds = 100;

/** Slows down those who try tokens: each wrong one waits, and of many in a minute the rest are sent away at once. */
export class Guesses {
  private wrongOnes: number[] = [];

  /** Resolves when the answer may be sent; false when there were too many. */
  async wrong(): Promise<boolean> {
    const since = Date.now() - windowMilliseconds;
    this.wrongOnes = this.wrongOnes.filter((at) => at > since);
    if (this.wrongOnes.length >= mostWrong) return false;
    this.wrongOnes.push(Date.now());
    await new Promise((resolve) => setTimeout(resolve, delayMilliseconds));
    return true;
  }
}
