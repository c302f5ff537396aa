import { join, resolve } from 'node:path';
import type { SkillRoot } from './skill.js';

/** Where a session, or a question about skills, looks for them. */
export interface SkillPlaces {
  /** Directories that the app names. */
  readonly directories: readonly string[];
  /** Projects whose own skills count. */
  readonly projects: readonly string[];
  /** Homes of the user: that of the session first. */
  readonly homes: readonly string[];
}

/** Below a project, in the order in which they count. */
const projectFolders = ['.groundcrew/skills', '.github/skills', '.claude/skills'] as const;

/** Directories in the order of precedence: the app's, then the project's, then the user's. */
export function skillRoots({ directories, projects, homes }: SkillPlaces): readonly SkillRoot[] {
  const roots: readonly SkillRoot[] = [
    ...directories.map((path) => ({ path: resolve(path), source: 'custom' as const })),
    ...projects.flatMap((projectPath, index) =>
      projectFolders.map((folder) => ({
        path: join(projectPath, folder),
        source: index === 0 ? ('project' as const) : ('inherited' as const),
        projectPath,
      })),
    ),
    ...homes.map((home) => ({ path: join(home, 'skills'), source: 'personal-copilot' as const })),
  ];
  const seen = new Set<string>();
  return roots.filter(({ path }) => !seen.has(path) && seen.add(path));
}
