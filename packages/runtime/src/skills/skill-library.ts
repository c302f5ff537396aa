import { statSync } from 'node:fs';
import type { Skill, SkillRoot, SkillSource } from './skill.js';
import { SkillFolder } from './skill-folder.js';

/** A skill and where it comes from. */
export interface PlacedSkill extends Skill {
  readonly source: SkillSource;
  readonly projectPath?: string;
}

/** All directories with skills that sessions of a process use; each is read and watched once. */
export class SkillLibrary {
  private readonly folders = new Map<string, { readonly folder: SkillFolder; users: number }>();

  /** The skills of these directories, the first ones before the others. What it returns has to be closed. */
  shelf(roots: readonly SkillRoot[]): SkillShelf {
    const placed = roots.map((root) => ({ root, folder: this.open(root) }));
    return new SkillShelf(placed, () => {
      for (const { root } of placed) this.leave(root);
    });
  }

  private open(root: SkillRoot): SkillFolder {
    const known = this.folders.get(keyOf(root));
    if (known) {
      known.users += 1;
      return known.folder;
    }
    const folder = new SkillFolder(root.path, { project: root.projectPath });
    this.folders.set(keyOf(root), { folder, users: 1 });
    return folder;
  }

  private leave(root: SkillRoot): void {
    const known = this.folders.get(keyOf(root));
    if (!known) return;
    known.users -= 1;
    if (known.users > 0) return;
    known.folder.close();
    this.folders.delete(keyOf(root));
  }
}

/** The skills that one session, or one question about skills, sees. */
export class SkillShelf {
  private placed: readonly PlacedSkill[] = [];
  /** One sentence each, with file and line: why a skill is not there. */
  errors: readonly string[] = [];
  /** What is wrong with skills that are there. */
  warnings: readonly string[] = [];
  /** What is as it should be and may surprise all the same. */
  notes: readonly string[] = [];
  private versions: readonly number[] = [];

  constructor(
    private readonly folders: readonly { readonly root: SkillRoot; readonly folder: SkillFolder }[],
    readonly close: () => void,
  ) {}

  /** Each name once: what stands in an earlier directory hides the same name in a later one. */
  get skills(): readonly PlacedSkill[] {
    return this.placed;
  }

  /** Reads what has changed on the disk; true when anything has, and the first time. */
  async refresh({ isForced = false } = {}): Promise<boolean> {
    if (isForced) for (const { folder } of this.folders) folder.expire();
    await Promise.all(this.folders.map(({ folder }) => folder.refresh()));
    const versions = this.folders.map(({ folder }) => folder.version);
    const isFirst = this.versions.length === 0;
    if (!isFirst && versions.every((version, index) => version === this.versions[index])) return false;
    this.versions = versions;
    this.gather();
    return true;
  }

  private gather(): void {
    const skills = new Map<string, PlacedSkill>();
    const errors: string[] = [];
    const warnings: string[] = [];
    const notes: string[] = [];
    for (const { root, folder } of this.folders) {
      const { path, source, projectPath } = root;
      if (source === 'custom' && !isDirectory(path)) errors.push(`${path}: there is no such directory`);
      for (const { skill, problems } of folder.found) {
        (skill ? warnings : errors).push(...problems);
        if (!skill) continue;
        const before = skills.get(skill.name);
        if (before) notes.push(`${skill.path}: hidden by ${before.path}, which has the same name`);
        else skills.set(skill.name, { ...skill, source, ...(projectPath !== undefined && { projectPath }) });
      }
    }
    this.placed = [...skills.values()];
    this.errors = errors;
    this.warnings = warnings;
    this.notes = notes;
  }
}

/** What comes with a project was written by strangers, and is confined to it. */
function keyOf({ path, projectPath }: SkillRoot): string {
  return JSON.stringify([path, projectPath]);
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    // What may not be looked at is no directory to read skills from.
    return false;
  }
}
