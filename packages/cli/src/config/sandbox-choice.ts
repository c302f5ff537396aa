import type { Environment } from '@groundcrew/models';
import type { SandboxSettings } from '@groundcrew/runtime';
import type { Flag } from '../flags/flags.js';
import { readSandboxSetting } from './config-file.js';
import { configPath } from './home.js';
import { readSandboxWord, sandboxWords } from './sandbox-text.js';

/** The flags that say where commands run. */
export const sandboxFlags = {
  sandbox: {
    names: ['--sandbox'],
    placeholder: 'EXECUTOR',
    help: `where commands run: ${sandboxWords.join(', ')}`,
    read: readSandboxWord,
  } satisfies Flag<SandboxSettings>,
};

/** What the environment says of it. Throws UsageError. */
export function sandboxFrom({ GROUNDCREW_SANDBOX }: Environment): SandboxSettings | undefined {
  return GROUNDCREW_SANDBOX ? readSandboxWord(GROUNDCREW_SANDBOX, 'GROUNDCREW_SANDBOX') : undefined;
}

/**
 * What sessions of a runtime go by that say nothing themselves: the word of a flag, else that of the environment, over the
 * file of its home. Throws UsageError.
 */
export function standingSandbox(
  environment: Environment,
  homeDirectory: string,
  word?: SandboxSettings,
): SandboxSettings | undefined {
  return sandboxOver(readSandboxSetting(configPath(homeDirectory)), word ?? sandboxFrom(environment));
}

/** A word chooses the executor; what else the file says still holds, unless the word is that there is no sandbox. */
export function sandboxOver(
  file: SandboxSettings | undefined,
  word: SandboxSettings | undefined,
): SandboxSettings | undefined {
  if (word === undefined || file === undefined || word.executor === 'host') return word ?? file;
  return { ...file, ...word };
}
