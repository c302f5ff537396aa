import * as z from 'zod/mini';
import { method } from '../define.js';
import { text, texts } from '../fields.js';
import { nothing, once, openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';
import { skillFields } from './skills.js';

const skill = once(() =>
  openObject({
    ...skillFields(),
    pluginName: z.optional(text()),
    argumentHint: z.optional(text()),
  }),
);

/** The skills of a session. */
export const sessionSkillsMethods = {
  'session.skills.list': method('The skills there are, in the order of precedence.', sessionRef, () =>
    openObject({ skills: z.array(skill()) }),
  ),
  'session.skills.getInvoked': method('The skills that were used so far.', sessionRef, () =>
    openObject({
      skills: z.array(
        openObject({
          name: text(),
          path: text(),
          content: text(),
          allowedTools: z.optional(texts()),
          invokedAtTurn: z.number(),
        }),
      ),
    }),
  ),
  'session.skills.enable': method(
    'Switches a skill on for this session.',
    () => inSession({ name: text() }),
    nothing,
  ),
  'session.skills.disable': method(
    'Switches a skill off for this session.',
    () => inSession({ name: text() }),
    nothing,
  ),
  'session.skills.reload': method(
    'Reads all skills anew; answers what is wrong with them, with file and line.',
    sessionRef,
    () => openObject({ warnings: texts(), errors: texts() }),
  ),
  'session.skills.ensureLoaded': method(
    'Reads the skills now, before any turn needs them.',
    sessionRef,
    nothing,
  ),
};
