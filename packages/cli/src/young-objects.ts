/** V8's own way to set what it goes by; there once the module is loaded. */
let setFlag: ((flag: string) => void) | undefined;

/**
 * Bounds the room for objects that are soon forgotten. V8 doubles it under load, to 32 MB that it never gives back; a server
 * that mostly waits does its work as fast in two or four. Done when the first clients have their answers: the module costs
 * a millisecond.
 */
export function boundYoungObjects(after = grownUpAfter): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(stopGrowth()), after).unref();
  });
}

/**
 * Does this by the settings that V8 starts with: it takes no code that was kept by others, and every start would compile
 * the program anew.
 */
export function byUsualSettings<T>(work: () => T): T {
  setFlag?.(usual);
  try {
    return work();
  } finally {
    setFlag?.(bounded);
  }
}

const grownUpAfter = 400;
const usual = '--semi-space-growth-factor=2';
const bounded = '--semi-space-growth-factor=1';

async function stopGrowth(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  setFlag = setFlagsFromString;
  setFlag(bounded);
}
