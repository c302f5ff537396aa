import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { GroundcrewError } from './errors.js';

/** The program to start: the one named, else `GROUNDCREW_PATH`, else the package `groundcrew`. */
export function findRuntime(
  named: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  if (named !== undefined) return existing(named, 'the option `path`');
  const { GROUNDCREW_PATH } = environment;
  if (GROUNDCREW_PATH) return existing(GROUNDCREW_PATH, 'GROUNDCREW_PATH');
  return installed();
}

function existing(path: string, source: string): string {
  if (existsSync(path)) return path;
  throw new GroundcrewError('runtime_not_found', `There is no runtime at ${path}, which ${source} names`);
}

function installed(): string {
  try {
    return createRequire(import.meta.filename).resolve('groundcrew/bin/groundcrew.js');
  } catch (error) {
    throw notInstalled(error);
  }
}

/** What to do when the package is missing. */
export function notInstalled(cause: unknown): GroundcrewError {
  const text =
    'No runtime found. Run `npm install groundcrew`, set GROUNDCREW_PATH, or connect to a running one with RuntimeConnection.forUri';
  return new GroundcrewError('runtime_not_found', text, { cause });
}
