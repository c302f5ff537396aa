const mostWrong = 20;
const windowMilliseconds = 60_000;
const delayMilliseconds = 100;

/** Slows down guessing: each wrong token is answered late, and above a number in a minute further ones are refused at once. */
export class TokenThrottle {
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
