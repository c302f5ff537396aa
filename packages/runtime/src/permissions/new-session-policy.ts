import { realpathSync } from 'node:fs';
import { describeDirectory } from '../workspace/git.js';
import { locationOf } from './book-contents.js';
import { BookFile } from './book-file.js';
import type { PolicyRules } from './policy.js';
import { withRealPaths } from './real-rules.js';
import { initialPermissions, noSwitches, type PermissionSettings } from './settings.js';
import type { UserRules } from './user-rules.js';

/** What holds for a new session in a directory before any client has changed it. Throws BookFault. */
export function newSessionPolicy(place: {
  readonly homeDirectory: string;
  readonly workingDirectory: string;
  readonly userRules: UserRules;
  readonly mode?: PermissionSettings['mode'];
}): PolicyRules {
  const { deny, allow, problem } = place.userRules;
  const real = realpathSync(place.workingDirectory);
  const book = new BookFile(place.homeDirectory).read();
  const { approvals, rules } = locationOf(book, describeDirectory(real).gitRoot ?? real);
  return {
    deny: withRealPaths(deny, place.workingDirectory),
    allow: [...allow, ...rules],
    approvals: [...approvals, ...book.domains.map((domain) => ({ kind: 'url', domain }))],
    ...noSwitches,
    mode: place.mode ?? initialPermissions.mode,
    canAsk: true,
    directories: [...new Set([place.workingDirectory, real])],
    home: realpathSync(place.homeDirectory),
    ...(problem !== undefined && { problem }),
  };
}
