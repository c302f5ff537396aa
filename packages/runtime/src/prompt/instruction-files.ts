import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { isAbsent } from '../workspace/absent.js';

/** Where a session's instructions may stand. */
export interface InstructionPlaces {
  readonly workingDirectory: string;
  readonly gitRoot?: string;
  /** Directories that the app names besides. */
  readonly directories?: readonly string[];
  /** What the user wants in every project. */
  readonly homeDirectory?: string;
}

export type InstructionType = 'home' | 'repo' | 'model' | 'vscode' | 'nested-agents';
export type InstructionLocation = 'user' | 'repository' | 'working-directory';

/** A file or a directory that is looked at. */
export interface InstructionPlace {
  readonly path: string;
  readonly kind: 'file' | 'directory';
  readonly type: InstructionType;
  readonly location: InstructionLocation;
  /** What the file belongs to: a link that leads out of it is not followed. */
  readonly root: string;
  readonly preferredForCreation: boolean;
}

/** Every place that is looked at, from the most general to the most special. */
export function instructionPlaces(places: InstructionPlaces): readonly InstructionPlace[] {
  const { workingDirectory, homeDirectory, directories = [] } = places;
  const root = rootOf(places);
  const location = places.gitRoot === undefined ? 'working-directory' : 'repository';
  return [
    ...(homeDirectory === undefined ? [] : userInstructions(homeDirectory)),
    ...placesIn(root, location),
    ...between(root, workingDirectory).map((directory) => nested(directory, root)),
    ...(workingDirectory === root ? [] : gitHubPlaces(workingDirectory, 'working-directory')),
    ...directories.flatMap((directory) => [
      ...placesIn(directory, 'user'),
      place(directory, '.', { kind: 'directory', type: 'vscode', location: 'user' }),
    ]),
  ];
}

/** Where the user's own instructions stand. */
export function userInstructions(homeDirectory: string): readonly InstructionPlace[] {
  const how = { kind: 'file', type: 'home', location: 'user', preferred: true } as const;
  return [place(homeDirectory, 'copilot-instructions.md', how)];
}

/** The files in a place; none where it is not there. */
export async function filesIn({ path, kind, root }: InstructionPlace): Promise<readonly string[]> {
  if (kind === 'file') return [path];
  return (await namesIn(path, path === root ? 0 : deepest)).slice(0, mostFiles);
}

/** Deep enough for any project; a loop of links ends, for links to directories are not followed. */
const deepest = 4;
const mostFiles = 200;
const mostEntries = 2000;

async function namesIn(directory: string, depth: number): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown): Dirent[] => {
    if (isAbsent(error) || (error as NodeJS.ErrnoException).code === 'EACCES') return [];
    throw error;
  });
  const sorted = entries.slice(0, mostEntries).sort((a, b) => (a.name < b.name ? -1 : 1));
  const own = sorted.filter((entry) => !entry.isDirectory() && entry.name.endsWith('.instructions.md'));
  const below = depth === 0 ? [] : sorted.filter((entry) => entry.isDirectory());
  const deeper = await Promise.all(below.map(({ name }) => namesIn(join(directory, name), depth - 1)));
  return [...own.map(({ name }) => join(directory, name)), ...deeper.flat()];
}

function placesIn(directory: string, location: InstructionLocation): readonly InstructionPlace[] {
  const [general, ...rest] = gitHubPlaces(directory, location);
  const agents = place(directory, 'AGENTS.md', { kind: 'file', type: 'model', location, preferred: true });
  return [...(general ? [general] : []), agents, ...rest];
}

function gitHubPlaces(directory: string, location: InstructionLocation): readonly InstructionPlace[] {
  return [
    place(directory, '.github/copilot-instructions.md', { kind: 'file', type: 'repo', location }),
    place(directory, '.github/instructions', { kind: 'directory', type: 'vscode', location }),
  ];
}

function nested(directory: string, root: string): InstructionPlace {
  const path = join(directory, 'AGENTS.md');
  const type = 'nested-agents';
  return { path, root, kind: 'file', type, location: 'working-directory', preferredForCreation: false };
}

function place(
  root: string,
  name: string,
  {
    preferred = false,
    ...rest
  }: Pick<InstructionPlace, 'kind' | 'type' | 'location'> & { readonly preferred?: boolean },
): InstructionPlace {
  return { path: join(root, name), root, preferredForCreation: preferred, ...rest };
}

/** A repository that the working directory is not in says nothing of it. */
function rootOf({ gitRoot, workingDirectory }: InstructionPlaces): string {
  if (gitRoot === undefined) return workingDirectory;
  const way = relative(gitRoot, workingDirectory);
  return way.startsWith(`..${sep}`) || way === '..' ? workingDirectory : gitRoot;
}

/** The directories below the root on the way to another, that one included. */
function between(root: string, directory: string): readonly string[] {
  const found: string[] = [];
  for (let at = directory; at !== root && dirname(at) !== at; at = dirname(at)) found.unshift(at);
  return found;
}
