import type { Environment } from '@groundcrew/models';
import { readFileHooksSetting } from './config-file.js';
import { configPath } from './home.js';

/** Whether the user has enabled hooks from files for every session: by the environment, or in the home's settings. */
export function standingFileHooks(environment: Environment, homeDirectory: string): boolean {
  const { GROUNDCREW_FILE_HOOKS } = environment;
  if (GROUNDCREW_FILE_HOOKS) return !['0', 'false', 'off'].includes(GROUNDCREW_FILE_HOOKS.toLowerCase());
  return readFileHooksSetting(configPath(homeDirectory));
}
