import * as z from 'zod/mini';
import { method } from '../define.js';
import { nothing, openObject } from '../schema.js';

/** What the process that hosts the runtime is asked for. */
export const hostMethods = {
  'agentRegistry.spawn': method(
    'Would start a runtime beside this one; it is refused as not enabled.',
    () => openObject({ cwd: z.string() }),
    () => openObject({ kind: z.string() }),
  ),
  'secrets.addFilterValues': method(
    'Covers these values in the diagnostics of the process from now on; only where COPILOT_ENABLE_SECRET_FILTERING allows it.',
    () => openObject({ values: z.array(z.string()) }),
    () => openObject({ ok: z.literal(true) }),
  ),
  'user.settings.get': method(
    "The user's settings that clients may change, each with its default.",
    () => openObject({}),
    () =>
      openObject({
        settings: z.record(
          z.string(),
          openObject({ value: z.unknown(), default: z.unknown(), isDefault: z.boolean() }),
        ),
      }),
  ),
  'user.settings.reload': method(
    'Reads the settings anew; they are read at each use, so nothing is left to do.',
    () => openObject({}),
    nothing,
  ),
  'user.settings.set': method(
    "Writes settings into the home's `config.json`; `null` takes one out. Names those that the environment overrules.",
    () => openObject({ settings: z.record(z.string(), z.unknown()) }),
    () => openObject({ shadowedKeys: z.array(z.string()) }),
  ),
};
