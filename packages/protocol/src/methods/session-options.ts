import * as z from 'zod';
import { method } from '../define.js';
import { openObject } from '../schema.js';
import { modelFields, toolFilterFields } from '../session-config.js';
import { inSession } from './session-ref.js';

/** Settings that may change while a session lives. */
export const sessionOptionsMethods = {
  'session.options.update': method(
    'Changes the settings it names and no others; unknown ones are kept, not refused.',
    () =>
      inSession({
        ...modelFields(),
        ...toolFilterFields(),
        clientName: z.string().optional(),
        workingDirectory: z.string().optional(),
        enableStreaming: z.boolean().optional(),
        askUserDisabled: z.boolean().optional(),
        skipCustomInstructions: z.boolean().optional(),
        customAgentsLocalOnly: z.boolean().optional(),
        excludedBuiltinAgents: z.array(z.string()).optional(),
        coauthorEnabled: z.boolean().optional(),
        manageScheduleEnabled: z.boolean().optional(),
        installedPlugins: z.array(z.unknown()).optional(),
        skillDirectories: z.array(z.string()).optional(),
        disabledSkills: z.array(z.string()).optional(),
      }),
    () => openObject({ success: z.boolean(), pluginHookCount: z.number().optional() }),
  ),
};
