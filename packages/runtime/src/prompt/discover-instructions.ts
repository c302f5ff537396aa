import { describeDirectory } from '../workspace/git.js';
import { type InstructionPlace, instructionPlaces, userInstructions } from './instruction-files.js';
import { InstructionReader, type InstructionSource } from './instructions.js';

/** What is looked at: the user's own instructions, or those of a project. */
export type Search = { readonly homeDirectory: string } | { readonly projectPath: string };

/** Where instructions may stand, and those that do, whether or not a session is open. */
export function discoverInstructions(search: Search): {
  readonly paths: readonly (Omit<InstructionPlace, 'root' | 'type'> & { readonly projectPath?: string })[];
  readonly sources: readonly (InstructionSource & { readonly projectPath?: string })[];
} {
  const project = 'projectPath' in search ? { projectPath: search.projectPath } : {};
  const places = placesOf(search);
  const { sources } = new InstructionReader().read(places);
  return {
    sources: sources.map((source) => ({ ...source, ...project })),
    paths: places.map(({ root: _root, type: _type, ...place }) => ({ ...place, ...project })),
  };
}

function placesOf(search: Search): readonly InstructionPlace[] {
  if ('homeDirectory' in search) return userInstructions(search.homeDirectory);
  const { cwd, gitRoot } = describeDirectory(search.projectPath);
  return instructionPlaces({ workingDirectory: cwd, ...(gitRoot !== undefined && { gitRoot }) });
}
