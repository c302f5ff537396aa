const waiting: (() => void)[] = [];
let isTaken = false;

/**
 * Waits until no other caller does such work. A model may ask for hundreds of short pieces at once; between two of them the
 * requests of other sessions are answered. A caller that is alone does not wait.
 */
export async function eventLoopTurn(): Promise<void> {
  if (isTaken) return new Promise((resolve) => waiting.push(resolve));
  isTaken = true;
  afterOthers();
}

function next(): void {
  const go = waiting.shift();
  if (!go) {
    isTaken = false;
    return;
  }
  afterOthers();
  go();
}

/** A request takes a few rounds of the event loop; with one round a piece it would wait for as many pieces. */
function afterOthers(rounds = freeRounds): void {
  if (rounds === 0) setImmediate(next);
  else setImmediate(afterOthers, rounds - 1);
}

const freeRounds = 3;
