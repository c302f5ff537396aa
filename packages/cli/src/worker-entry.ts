import { join } from 'node:path';

declare const __WORKER__: string | undefined;

/** The program of worker processes: the bundle has a file of it beside itself; from source it is read as TypeScript. */
export const workerEntry = join(
  import.meta.dirname,
  typeof __WORKER__ === 'undefined' ? 'worker-main.ts' : __WORKER__,
);
