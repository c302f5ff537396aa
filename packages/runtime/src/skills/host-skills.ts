import { findGit } from '../workspace/git.js';
import { DisabledSkills } from './disabled-skills.js';
import { shownSkill } from './shown-skill.js';
import { readSkillBody, type Skill, type SkillRoot } from './skill.js';
import { type PlacedSkill, SkillLibrary } from './skill-library.js';
import { skillRoots } from './skill-roots.js';

/** Where a caller without a session looks for skills. */
export interface SkillSearch {
  readonly directories: readonly string[];
  readonly projects: readonly string[];
  readonly includesHome: boolean;
}

/** The skills of a process: what its sessions share, and what may be asked without one. */
export class HostSkills {
  readonly library = new SkillLibrary();
  readonly disabled: DisabledSkills;

  constructor(
    /** The home of the user. */
    readonly home: string,
  ) {
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
  discover(search: SkillSearch): Promise<Discovered> {
    return this.look(this.roots(search));
  }

  /** What a session that works in a directory would have. */
  here(directory: string, directories: readonly string[]): Promise<Discovered> {
    const root = findGit(directory)?.root;
    const projects = [directory, ...(root === undefined || root === directory ? [] : [root])];
    return this.look(skillRoots({ directories, projects, homes: [this.home] }));
  }

  private async look(roots: readonly SkillRoot[]): Promise<Discovered> {
    const shelf = this.library.shelf(roots);
    try {
      await shelf.refresh();
      const off = new Set(this.disabled.read());
      const skills = shelf.skills
        .map((skill) => ({ ...skill, enabled: !off.has(skill.name) }))
        .map(withShown);
      const { errors, warnings, notes } = shelf;
      return { skills, errors, warnings, notes };
    } finally {
      shelf.close();
    }
  }

  /** The text of a skill without its settings. Throws when it cannot be read. */
  bodyOf(skill: Skill): Promise<string> {
    return readSkillBody(skill);
  }
}

/** What was found, and what is wrong with it. */
interface Discovered {
  readonly skills: readonly ReturnType<typeof withShown>[];
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
}

/** A skill, and as clients see it. */
function withShown(skill: PlacedSkill & { readonly enabled: boolean }) {
  const project = skill.projectPath === undefined ? {} : { projectPath: skill.projectPath };
  return { ...skill, shown: { ...shownSkill(skill), ...project } };
}
