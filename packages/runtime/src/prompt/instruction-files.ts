import { type Dir, type Dirent, opendirSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

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
export function filesIn({ path, kind, root }: InstructionPlace): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return [];
  return kind === 'file' ? [path] : namesIn(path, { depth: path === root ? 0 : deepest, left: mostEntries });
}

/** Deep enough for any project; a loop of links ends, for links to directories are not followed. */
const deepest = 4;
/** Of all directories of a place together: a project may be large, and hostile. */
const mostEntries = 2000;

function namesIn(directory: string, bound: { readonly depth: number; left: number }): readonly string[] {
  const entries = entriesOf(directory, bound);
  const own = entries.filter((entry) => !entry.isDirectory() && entry.name.endsWith('.instructions.md'));
  const below = bound.depth === 0 ? [] : entries.filter((entry) => entry.isDirectory());
  const deeper = below.flatMap(({ name }) => {
    const next = { depth: bound.depth - 1, left: bound.left };
    const found = namesIn(join(directory, name), next);
    bound.left = next.left;
    return found;
  });
  return [...own.map(({ name }) => join(directory, name)), ...deeper];
}

function entriesOf(path: string, bound: { left: number }): readonly Dirent[] {
  const found: Dirent[] = [];
  const directory = opened(path);
  if (!directory) return found;
  try {
    for (; bound.left > 0; bound.left -= 1) {
      const entry = directory.readSync();
      if (!entry) break;
      found.push(entry);
    }
  } finally {
    directory.closeSync();
  }
  return found.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** What is no directory, or may not be looked into, has no files. */
function opened(path: string): Dir | undefined {
  try {
    return opendirSync(path);
  } catch {
    return undefined;
  }
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
