import type { Terminal } from './terminal.js';

/** After this many milliseconds users are shown how far something is. */
const patience = 1_000;
const interval = 250;

/** Shows on a terminal how far a piece of work is, once it has taken a second; leaves nothing behind. */
export async function withProgress<T>(
  { errorOutput }: Pick<Terminal, 'errorOutput'>,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  if (!errorOutput.isTTY) return work();
  const began = Date.now();
  const timer = setInterval(() => {
    const milliseconds = Date.now() - began;
    if (milliseconds < patience) return;
    errorOutput.write(`\r\u001b[K… ${what}, ${Math.round(milliseconds / 1000)} s`);
  }, interval);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (Date.now() - began >= patience) errorOutput.write('\r\u001b[K');
  }
}
