import * as z from 'zod/mini';
import { attachment } from '../attachment.js';
import { method } from '../define.js';
import { nothing, openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';

/** What a host with a surface of its own offers in a session. */
export const sessionHostMethods = {
  'session.completions.getTriggerCharacters': method(
    'The characters at which this runtime completes what users type: none.',
    sessionRef,
    () => openObject({ triggerCharacters: z.array(z.string()) }),
  ),
  'session.completions.request': method(
    'What could follow at the cursor: this runtime has no suggestions.',
    () => inSession({ text: z.string(), offset: z.number() }),
    () => openObject({ items: z.array(z.unknown()) }),
  ),
  'session.extensions.sendAttachmentsToMessage': method(
    'An extension adds attachments to the next prompt; other clients are refused.',
    () => inSession({ attachments: z.array(attachment()), instanceId: z.optional(z.string()) }),
    nothing,
  ),
  'session.lsp.initialize': method(
    'There are no language servers: clients of the session get a warning.',
    () =>
      inSession({
        workingDirectory: z.optional(z.string()),
        gitRoot: z.optional(z.string()),
        force: z.optional(z.boolean()),
      }),
    nothing,
  ),
};
