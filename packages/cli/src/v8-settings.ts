/** A number of V8's that a server is better off with another value of. */
interface Setting {
  readonly flag: string;
  /** What V8 starts with. */
  readonly usual: number;
  readonly ours: number;
}

/**
 * When functions are compiled, by the version of V8.
 *
 * For speed, later: V8 does that on the other processors, and for a stream of some thousand events it costs as much as the
 * stream itself; what a server really does all day is soon compiled all the same. Where V8 has a compiler in between, from
 * 13 on, nothing is to be gained.
 *
 * With a memory of what they met, sooner: until then every property is looked up anew, and the first clients wait for it.
 */
const compiling: Readonly<Record<string, readonly Setting[]>> = {
  '11': [
    { flag: '--interrupt-budget', usual: 67_584, ours: 400_000 },
    { flag: '--interrupt-budget-factor-for-feedback-allocation', usual: 8, ours: 2 },
  ],
  '12': [
    { flag: '--invocation-count-for-turbofan', usual: 3000, ours: 15_000 },
    { flag: '--invocation-count-for-feedback-allocation', usual: 8, ours: 2 },
  ],
  '13': [{ flag: '--invocation-count-for-feedback-allocation', usual: 8, ours: 2 }],
};

/**
 * The room for objects that are soon forgotten: V8 doubles it under load, to 32 MB that it never gives back. A server that
 * mostly waits does its work as fast in two or four.
 */
const young: readonly Setting[] = [{ flag: '--semi-space-growth-factor', usual: 2, ours: 1 }];

const applied: Setting[] = [];
/** V8's own way to set what it goes by; there once the module is loaded. */
let setFlag: ((flag: string) => void) | undefined;

/** Changes when functions are compiled; for a server whose clients have begun to work, for it takes a millisecond. */
export function settleCompiling(): Promise<void> {
  const [major = ''] = process.versions.v8.split('.');
  return apply(compiling[major] ?? []);
}

/** Bounds the room for young objects, once it has grown to what a server needs. */
export async function boundYoungObjects(after = 400): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, after).unref());
  await apply(young);
}

/**
 * Does this by the settings that V8 starts with: it takes no code that was kept by others, and every start would compile
 * the program anew.
 */
export function byUsualSettings<T>(work: () => T): T {
  for (const { flag, usual } of applied) setFlag?.(`${flag}=${usual}`);
  try {
    return work();
  } finally {
    for (const { flag, ours } of applied) setFlag?.(`${flag}=${ours}`);
  }
}

async function apply(settings: readonly Setting[]): Promise<void> {
  if (settings.length === 0) return;
  setFlag ??= (await import('node:v8')).setFlagsFromString;
  for (const { flag, ours } of settings) setFlag(`${flag}=${ours}`);
  applied.push(...settings);
}

/** Collects what nobody refers to any more, now: some of it holds files open. */
export async function collectGarbage(): Promise<void> {
  const [{ setFlagsFromString }, { runInNewContext }] = await Promise.all([
    import('node:v8'),
    import('node:vm'),
  ]);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // what the flag is for
  setFlagsFromString('--no-expose-gc');
  collect();
}
