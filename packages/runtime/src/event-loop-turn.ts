const waiting: (() => void)[] = [];
let isTaken = false;

/**
 * Waits for a round of the event loop in which no other caller has begun such work. A model may ask for hundreds of short
 * pieces at once; other sessions get their turn in between. A caller that is alone does not wait.
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
