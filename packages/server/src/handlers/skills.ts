import { resolve } from 'node:path';
import type { Methods } from '@groundcrew/protocol';
import { shownSkill } from '@groundcrew/runtime';
import type { CallContext, Handlers } from '../handler.js';

type Names = Extract<keyof Methods, `skills.${string}`>;

export const skillsHandlers: Handlers<Pick<Methods, Names>> = {
  async 'skills.discover'({ projectPaths = [], skillDirectories = [], excludeHostSkills }, context) {
    const { skills, errors } = await context.runtime.skills.discover({
      directories: absolute(skillDirectories, context),
      projects: absolute(projectPaths, context),
      includesHome: !excludeHostSkills,
    });
    const shown = skills.map((skill) => ({
      ...shownSkill(skill),
      ...(skill.projectPath !== undefined && { projectPath: skill.projectPath }),
    }));
    return { skills: shown, ...(errors.length > 0 && { errors: [...errors] }) };
  },
  async 'skills.getDiscoveryPaths'({ projectPaths = [], excludeHostSkills }, context) {
    const roots = context.runtime.skills.roots({
      directories: [],
      projects: absolute(projectPaths, context),
      includesHome: !excludeHostSkills,
    });
    return {
      paths: roots.map(({ path, source, projectPath }) => ({
        path,
        scope: source === 'inherited' ? 'project' : source,
        preferredForCreation: /[\\/]\.github[\\/]skills$/.test(path) || source === 'personal-copilot',
        ...(projectPath !== undefined && { projectPath }),
      })),
    };
  },
  async 'skills.config.setDisabledSkills'({ disabledSkills }, { runtime }) {
    runtime.skills.disabled.write(disabledSkills);
    return null;
  },
  async 'skills.config.setSkillDisabled'({ name, disabled }, { runtime }) {
    const others = runtime.skills.disabled.read().filter((each) => each !== name);
    runtime.skills.disabled.write(disabled ? [...others, name] : others);
    return null;
  },
};

function absolute(paths: readonly string[], { environment }: CallContext): readonly string[] {
  return paths.map((path) => resolve(environment.workingDirectory, path));
}
