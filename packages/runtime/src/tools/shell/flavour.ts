import { delimiter } from 'node:path';
import { findExecutable } from '../../exec/executable.js';

/** One family of shells: what its tools are called and how a command is started. */
export interface ShellFlavour {
  readonly tools: {
    readonly run: string;
    readonly read: string;
    readonly stop: string;
    readonly list: string;
  };
  /** Programs that understand the commands, the best first. */
  readonly programs: readonly string[];
  parameters(command: string): readonly string[];
}

/** Shells by platform; where none is named, bash. */
export function flavourOf(platform: NodeJS.Platform): ShellFlavour {
  return platform === 'win32' ? powershell : bash;
}

/** The first of these programs that is installed; the last one when none can be found. */
export function findProgram(names: readonly string[], searchPath: string): string {
  const places = searchPath.split(delimiter).filter((place) => place !== '');
  for (const name of names) {
    const found = findExecutable(name, places);
    if (found !== undefined) return found;
  }
  return names.at(-1) ?? 'sh';
}

const bash: ShellFlavour = {
  tools: { run: 'bash', read: 'read_bash', stop: 'stop_bash', list: 'list_bash' },
  programs: ['bash', 'sh'],
  parameters: (command) => ['-c', command],
};

const powershell: ShellFlavour = {
  tools: { run: 'powershell', read: 'read_powershell', stop: 'stop_powershell', list: 'list_powershell' },
  programs: ['pwsh.exe', 'powershell.exe'],
  parameters: (command) => ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', command],
};
