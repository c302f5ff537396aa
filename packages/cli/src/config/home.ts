import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '@groundcrew/models';

/** Where sessions are kept. Clients that start the runtime name the home by `COPILOT_HOME`, users by `GROUNDCREW_HOME`. */
export function homeDirectory(environment: Environment, options: { readonly isHeadless: boolean }): string {
  const { COPILOT_HOME, GROUNDCREW_HOME, XDG_STATE_HOME } = environment;
  const named = options.isHeadless ? COPILOT_HOME || GROUNDCREW_HOME : GROUNDCREW_HOME || COPILOT_HOME;
  if (named) return named;
  if (XDG_STATE_HOME) return join(XDG_STATE_HOME, 'groundcrew');
  return join(homedir(), '.groundcrew');
}

/** Where a home keeps its settings. */
export function configPath(homeDirectory: string): string {
  return join(homeDirectory, 'config.json');
}
