import { existsSync } from 'node:fs';
import type { ModelSettings } from '@groundcrew/model-access';
import type { Environment } from '@groundcrew/models';
import { configPath } from './home.js';

/** Variables that say something of all model calls. */
const ofCalls = ['GROUNDCREW_MODEL_IDLE_TIMEOUT', 'GROUNDCREW_RETRY_AFTER_LIMIT'];

/** Returns a reader for the model settings of a home and the environment; undefined when neither has any. */
export function modelSettings(
  homeDirectory: string,
  environment: Environment,
): () => Promise<ModelSettings> | undefined {
  const path = configPath(homeDirectory);
  return () => {
    if (!existsSync(path) && !ofCalls.some((name) => environment[name])) return undefined;
    return read(path, environment);
  };
}

/** Loaded when needed: a runtime that only starts has no use for it. */
async function read(path: string, environment: Environment): Promise<ModelSettings> {
  const { readModelSettings, secondsFrom } = await import('./config-file.js');
  return { ...readModelSettings(path), ...secondsFrom(environment) };
}
