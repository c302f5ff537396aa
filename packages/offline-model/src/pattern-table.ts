import type { Pattern } from './pattern.js';
import { arithmetic } from './patterns/arithmetic.js';
import { attachments } from './patterns/attachments.js';
import { memory } from './patterns/memory.js';
import { phrases } from './patterns/phrases.js';
import { smallTalk } from './patterns/small-talk.js';
import { aboutTools, meantTools, missingTools, namedTools } from './patterns/tools.js';
import { missingWorkspace, workspace } from './patterns/workspace.js';

/** All there is, in the order in which it is tried; the first row that answers a sentence wins. */
export const table: readonly Pattern[] = [
  ...phrases,
  ...arithmetic,
  ...aboutTools,
  ...attachments,
  ...workspace,
  ...namedTools,
  ...meantTools,
  ...memory,
  ...missingTools,
  ...missingWorkspace,
  ...smallTalk,
];
