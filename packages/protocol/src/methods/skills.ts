import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, text, texts } from '../fields.js';
import { nothing, once, openEnum, openObject } from '../schema.js';

/** Where a skill was found. */
const skillSource = once(() =>
  openEnum(['project', 'inherited', 'personal-copilot', 'personal-agents', 'plugin', 'custom', 'builtin']),
);

/** The fields of a skill in lists with and without a session. */
export function skillFields() {
  return {
    name: text(),
    commandName: z.optional(text()),
    description: text(),
    source: skillSource(),
    userInvocable: flag(),
    enabled: flag(),
    path: z.optional(text()),
  };
}

/** Skills that no session is needed for. */
export const skillsMethods = {
  'skills.discover': method(
    'The skills of projects, of directories and of the user.',
    () =>
      openObject({
        projectPaths: z.optional(texts()),
        skillDirectories: z.optional(texts()),
        excludeHostSkills: z.optional(flag()),
      }),
    () =>
      openObject({
        skills: z.array(
          openObject({
            ...skillFields(),
            projectPath: z.optional(text()),
            argumentHint: z.optional(text()),
          }),
        ),
        errors: z.optional(texts()),
      }),
  ),
  'skills.getDiscoveryPaths': method(
    'The directories in which skills are looked for.',
    () => openObject({ projectPaths: z.optional(texts()), excludeHostSkills: z.optional(flag()) }),
    () =>
      openObject({
        paths: z.array(
          openObject({
            path: text(),
            scope: openEnum(['project', 'personal-copilot', 'personal-agents', 'custom']),
            preferredForCreation: flag(),
            projectPath: z.optional(text()),
          }),
        ),
      }),
  ),
  'skills.config.setDisabledSkills': method(
    'Sets which skills are switched off for all sessions of this home.',
    () => openObject({ disabledSkills: texts() }),
    nothing,
  ),
  'skills.config.setSkillDisabled': method(
    'Switches one skill off, or on again, for all sessions of this home.',
    () => openObject({ name: text(), disabled: flag() }),
    nothing,
  ),
};
