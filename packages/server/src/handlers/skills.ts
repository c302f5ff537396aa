import type { Methods } from '@groundcrew/protocol';
import { Refusal } from '../failure.js';
import type { Handlers } from '../handler.js';
import { namedDirectories } from '../named-directories.js';

type Names = Extract<keyof Methods, `skills.${string}`>;

export const skillsHandlers: Handlers<Pick<Methods, Names>> = {
  async 'skills.discover'({ projectPaths = [], skillDirectories = [], excludeHostSkills }, context) {
    const { workingDirectory } = context.environment;
    const { skills, errors } = await context.runtime.skills.discover({
      directories: namedDirectories(skillDirectories, workingDirectory),
      projects: namedDirectories(projectPaths, workingDirectory),
      includesHome: !excludeHostSkills,
    });
    return { skills: skills.map(({ shown }) => shown), ...(errors.length > 0 && { errors: [...errors] }) };
  },
  async 'skills.getDiscoveryPaths'({ projectPaths = [], excludeHostSkills }, context) {
    const roots = context.runtime.skills.roots({
      directories: [],
      projects: namedDirectories(projectPaths, context.environment.workingDirectory),
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
    requireFew(disabledSkills);
    runtime.skills.disabled.write(disabledSkills);
    return null;
  },
  async 'skills.config.setSkillDisabled'({ name, disabled }, { runtime }) {
    const others = runtime.skills.disabled.read().filter((each) => each !== name);
    const names = disabled ? [...others, name] : others;
    if (disabled) requireFew(names);
    runtime.skills.disabled.write(names);
    return null;
  },
};

/** Far more than anyone has: they are sorted and written at once, and read by every session. */
const mostDisabled = 5000;
const longestName = 1024;

function requireFew(names: readonly string[]): void {
  if (names.length > mostDisabled)
    throw new Refusal(`At most ${mostDisabled} skills can be switched off, not ${names.length}.`);
  if (names.some(({ length }) => length > longestName))
    throw new Refusal(`The name of a skill has at most ${longestName} characters.`);
}
