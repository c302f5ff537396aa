import * as z from 'zod/mini';
import { method } from '../define.js';
import { anything, flag, text, texts } from '../fields.js';
import { openObject } from '../schema.js';
import { modelFields, sandboxFields, sessionLimits, toolFilterFields } from '../session-config.js';
import { sparseObject } from '../sparse-object.js';

/** Settings that may change while a session lives. */
export const sessionOptionsMethods = {
  'session.options.update': method(
    'Changes the settings that are given and no others; one without effect gets a `session.warning`.',
    () =>
      sparseObject(
        {
          ...modelFields(),
          ...toolFilterFields(),
          ...sandboxFields(),
          clientName: text,
          workingDirectory: text,
          /** All of them; one that is not named is lifted. */
          sessionLimits,
          enableStreaming: flag,
          askUserDisabled: flag,
          skipCustomInstructions: flag,
          customAgentsLocalOnly: flag,
          excludedBuiltinAgents: texts,
          coauthorEnabled: flag,
          manageScheduleEnabled: flag,
          installedPlugins: () => z.array(anything()),
          skillDirectories: texts,
          disabledSkills: texts,
          additionalContentExclusionPolicies: anything,
        },
        { sessionId: text },
      ),
    () => openObject({ success: z.boolean(), pluginHookCount: z.optional(z.number()) }),
  ),
};
