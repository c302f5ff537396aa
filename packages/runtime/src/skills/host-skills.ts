import { DisabledSkills } from './disabled-skills.js';
import type { SkillRoot } from './skill.js';
import { type PlacedSkill, SkillLibrary } from './skill-library.js';
import { skillRoots } from './skill-roots.js';

/** Where somebody who has no session looks for skills. */
export interface SkillSearch {
  readonly directories: readonly string[];
  readonly projects: readonly string[];
  readonly includesHome: boolean;
}

/** The skills of a process: what its sessions share, and what may be asked without one. */
export class HostSkills {
  readonly library = new SkillLibrary();
  readonly disabled: DisabledSkills;

  constructor(private readonly home: string) {
    this.disabled = new DisabledSkills(home);
  }

  /** The directories in the order of precedence. */
  roots({ directories, projects, includesHome }: SkillSearch): readonly SkillRoot[] {
    const projectRoots = projects.flatMap((project) =>
      skillRoots({ directories: [], projects: [project], homes: [] }),
    );
    const homes = includesHome ? [this.home] : [];
    const [own, personal] = [
      skillRoots({ directories, projects: [], homes: [] }),
      skillRoots({ directories: [], projects: [], homes }),
    ];
    return [...own, ...projectRoots, ...personal];
  }

  /** What is there now, and what is wrong with it. */
  async discover(search: SkillSearch): Promise<{
    readonly skills: readonly (PlacedSkill & { readonly enabled: boolean })[];
    readonly errors: readonly string[];
    readonly warnings: readonly string[];
    readonly notes: readonly string[];
  }> {
    const shelf = this.library.shelf(this.roots(search));
    try {
      await shelf.refresh();
      const off = new Set(this.disabled.read());
      const skills = shelf.skills.map((skill) => ({ ...skill, enabled: !off.has(skill.name) }));
      const { errors, warnings, notes } = shelf;
      return { skills, errors, warnings, notes };
    } finally {
      shelf.close();
    }
  }
}
