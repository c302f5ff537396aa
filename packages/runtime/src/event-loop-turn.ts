const waiting: (() => void)[] = [];
let isTaken = false;

/**
 * Waits for a round of the event loop in which nobody else has begun such work. Each piece of it is short; a model may ask
 * for hundreds at once, and those of other sessions are to have their turn in between. Alone, it does not wait.
 */
export async function eventLoopTurn(): Promise<void> {
  if (isTaken) return new Promise((resolve) => waiting.push(resolve));
  isTaken = true;
  setImmediate(next);
}

function next(): void {
  const go = waiting.shift();
  if (!go) {
    isTaken = false;
    return;
  }
  setImmediate(next);
  go();
}
