/**
 * Bounds the room for objects that are soon forgotten. V8 doubles it under load, to 32 MB that it never gives back; a server
 * that mostly waits does its work as fast in two or four. Done when the first clients have their answers: the module costs
 * a millisecond.
 */
export function boundYoungObjects(): void {
  setTimeout(() => void stopGrowth(), grownUpAfter).unref();
}

const grownUpAfter = 400;

async function stopGrowth(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--semi-space-growth-factor=1');
}
