import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import type { Draft } from '../log/session-log.js';
import type { SessionState } from '../log/state.js';
import type { ApprovalBook } from '../permissions/approval-book.js';
import {
  locationOf,
  rulesOf,
  withApproval,
  withLocation,
  withoutRules,
} from '../permissions/book-contents.js';
import type { Approval } from '../permissions/policy.js';
import { realOf } from '../permissions/real-rules.js';
import { checkBounds } from '../permissions/rule-bounds.js';
import type { Rule } from '../permissions/rules.js';
import type { PermissionChange, PermissionSwitches } from '../permissions/settings.js';
import type { SessionSettings } from '../settings/session-settings.js';
import { describeDirectory } from '../workspace/git.js';
import { isWithin, locate } from '../workspace/paths.js';
import { homeOf } from '../workspace/session-directory.js';

/** A directory that a client named cannot be one. */
class BadDirectory extends Error {
  override readonly name = 'BadDirectory';
}

/** A place that approvals are kept for: a repository, or a directory that is in none. */
export interface PermissionLocation {
  readonly locationKey: string;
  readonly locationType: 'repo' | 'dir';
}

/** How the rules of a session are changed. */
export interface RuleChange {
  readonly scope: 'session' | 'location';
  readonly add: readonly Rule[];
  readonly remove: readonly Rule[];
  readonly removeAll: boolean;
}

/** The session whose places these are. */
export interface PlacedSession {
  readonly workspacePath: string;
  readonly workspace: { readonly shownDirectory: string };
  readonly currentSettings: SessionSettings;
  state(): Promise<SessionState>;
  record(...drafts: readonly Draft[]): Promise<unknown>;
}

/** Where a session may work, and what is approved where. */
export class PermissionPlaces {
  private known: { readonly directory: string; readonly key: string } | undefined;
  private realHome: string | undefined;

  constructor(
    private readonly session: PlacedSession,
    private readonly book: ApprovalBook,
    private readonly switches: () => PermissionSwitches,
  ) {}

  /** The directory that counts as the session's own, and all in which tools may work. */
  list(state: SessionState): { readonly primary: string; readonly directories: readonly string[] } {
    const { directories, workspacePath } = state.permissions;
    const primary = state.permissions.primary ?? state.context.cwd;
    const more = directories ?? this.session.currentSettings.additionalDirectories ?? [];
    const own = workspacePath ? [workspacePath] : [];
    const kept = [this.session.workspacePath, this.session.workspace.shownDirectory];
    return { primary, directories: [...new Set([primary, ...more, ...own, ...kept])] };
  }

  /** The runtime's own home, links followed. */
  get home(): string {
    this.realHome ??= realOf(homeOf(this.session.workspacePath));
    return this.realHome;
  }

  /** The same as they are on the disk, links followed; what is not there is nowhere. */
  realDirectories(state: SessionState): readonly string[] {
    const { directories } = this.list(state);
    return [...new Set(directories.flatMap((directory) => [directory, realOf(directory)]))];
  }

  /** Lets tools work in one more directory; throws BadDirectory. */
  async add(path: string): Promise<void> {
    const directory = checked(path);
    const { permissions } = await this.session.state();
    const before = permissions.directories ?? this.session.currentSettings.additionalDirectories ?? [];
    await this.fix({ directories: [...new Set([...before, directory])] });
  }

  /** Puts a directory in the place of the working directory; throws BadDirectory. */
  async updatePrimary(path: string): Promise<void> {
    await this.fix({ primary: checked(path) });
  }

  /** Whether tools may work there without a question about the place. */
  async isAllowed(path: string): Promise<boolean> {
    if (this.switches().allowsAnyPath) return true;
    const state = await this.session.state();
    return this.isIn(path, this.list(state).directories, state);
  }

  /** Whether it is in the session's own directories: the primary one, and where it keeps its files. */
  async isInWorkspace(path: string): Promise<boolean> {
    const state = await this.session.state();
    const own = state.permissions.workspacePath ?? this.session.workspacePath;
    return this.isIn(path, [this.list(state).primary, own], state);
  }

  /** The place that a directory belongs to. */
  resolve(directory: string): PermissionLocation {
    const cwd = realOf(resolve(directory));
    const { gitRoot } = describeDirectory(cwd);
    return { locationKey: gitRoot ?? cwd, locationType: gitRoot === undefined ? 'dir' : 'repo' };
  }

  /** The key of the place the session works in; its approvals hold without being applied. */
  ownLocation({ context }: SessionState): string {
    const directory = context.gitRoot ?? context.cwd;
    if (this.known?.directory !== directory) this.known = { directory, key: realOf(directory) };
    return this.known.key;
  }

  /** Lets the approvals of a place hold in this session too; says which they are, and how many are new. */
  async apply(
    directory: string,
  ): Promise<PermissionLocation & { readonly rules: readonly Rule[]; readonly newRules: number }> {
    const location = this.resolve(directory);
    const entry = locationOf(this.book.read(), location.locationKey);
    const rules = [...entry.approvals.flatMap(rulesOf), ...entry.rules];
    const { locations } = (await this.session.state()).permissions;
    const isNew = rules.length > 0 && !locations.includes(location.locationKey);
    if (isNew) await this.fix({ locations: [...locations, location.locationKey] });
    return { ...location, rules, newRules: isNew ? rules.length : 0 };
  }

  /** Keeps an approval for a place; throws TooManyRules. */
  addApproval(locationKey: string, approval: Approval): Promise<void> {
    return this.book.change((book) => {
      const changed = withApproval(book, locationKey, approval);
      checkBounds({ approvals: locationOf(changed, locationKey).approvals });
      return changed;
    });
  }

  /** Adds and removes rules that allow, of this session or of the place it works in; throws TooManyRules. */
  async modifyRules({ scope, add, remove, removeAll }: RuleChange): Promise<void> {
    const state = await this.session.state();
    const changed = (rules: readonly Rule[]) => [
      ...withoutRules(removeAll ? [] : rules, [...remove, ...add]),
      ...add,
    ];
    if (scope === 'session') return this.fix({ allow: changed(state.permissions.allow) });
    const key = this.ownLocation(state);
    return this.book.change((book) => {
      const { approvals, rules } = locationOf(book, key);
      const isGone = (approval: Approval) => withoutRules(rulesOf(approval), remove).length === 0;
      const kept = removeAll ? [] : approvals.filter((approval) => !isGone(approval));
      const allow = changed(rules);
      checkBounds({ approvals: kept, allow });
      return withLocation(book, key, { approvals: kept, rules: allow });
    });
  }

  /** Removes what users approved in this session, and if asked, for the place it works in. */
  async removeApprovals(options: { readonly includeLocation: boolean }): Promise<void> {
    await this.fix({ approvals: [], allow: [], locations: [] });
    if (!options.includeLocation) return;
    const key = this.ownLocation(await this.session.state());
    await this.book.change((book) => withLocation(book, key, { approvals: [], rules: [] }));
  }

  /** Whether users trust a folder, or one that it is in. */
  isTrusted(path: string): boolean {
    const real = realOf(resolve(path));
    return this.book.read().trustedFolders.some((folder) => isWithin(folder, real));
  }

  /** Keeps that users trust a folder; throws BadDirectory. */
  trust(path: string): Promise<void> {
    const folder = realOf(checked(path));
    return this.book.change((book) =>
      book.trustedFolders.includes(folder)
        ? book
        : { ...book, trustedFolders: [...book.trustedFolders, folder] },
    );
  }

  /** Whether the servers of a folder's own file may start, as they are described now. */
  mayStartServers(path: string, version: string): boolean {
    if (this.isTrusted(path)) return true;
    const { approvals } = locationOf(this.book.read(), realOf(resolve(path)));
    const wanted = JSON.stringify(startApproval(version));
    return approvals.some((approval) => JSON.stringify(approval) === wanted);
  }

  /** Keeps that they may. */
  letServersStart(path: string, version: string): Promise<void> {
    return this.book.change((book) => withApproval(book, realOf(resolve(path)), startApproval(version)));
  }

  private async isIn(path: string, directories: readonly string[], state: SessionState): Promise<boolean> {
    const bounds = {
      workingDirectory: state.context.cwd,
      allowedDirectories: directories,
      homeDirectory: this.home,
    };
    return (await locate(path, bounds)).isInside;
  }

  private async fix(change: PermissionChange): Promise<void> {
    checkBounds(change);
    await this.session.record({ note: 'permissions.changed', data: change });
  }
}

/** The directories a client configures; throws BadDirectory. */
export function configuredDirectories(paths: {
  readonly additionalDirectories?: readonly string[] | undefined;
  readonly includeTempDirectory?: boolean | undefined;
}): readonly string[] {
  const named = (paths.additionalDirectories ?? []).map(checked);
  return paths.includeTempDirectory ? [...named, tmpdir()] : named;
}

function checked(path: string): string {
  if (path.includes('\0') || !isAbsolute(path))
    throw new BadDirectory(`Directory path must be absolute: ${path}`);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return resolve(path);
  throw new BadDirectory(`Directory does not exist or cannot be accessed: ${path}`);
}

/** What users have approved of a project's file of servers: those that it described then. */
function startApproval(version: string): Approval {
  return { kind: 'mcp', serverName: '.mcp.json', toolName: 'start', definitions: { start: version } };
}
