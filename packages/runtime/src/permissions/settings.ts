import type { Approval, PermissionMode } from './policy.js';
import type { Rule } from './rules.js';

/** What clients fixed for a session's permissions, and the log keeps: it holds after a restart. */
export interface PermissionSettings {
  readonly mode: PermissionMode;
  /** Rules for this session only. */
  readonly allow: readonly Rule[];
  readonly deny: readonly Rule[];
  /** In place of the directories that came with create or resume. */
  readonly directories?: readonly string[];
  /** In place of the working directory. */
  readonly primary?: string | null;
  /** A directory of the client's that counts as the session's own. */
  readonly workspacePath?: string | null;
  /** Hosts and addresses that are fetched without a question. */
  readonly urls: readonly string[];
  /** Other places whose approvals hold here too. */
  readonly locations: readonly string[];
}

/** What a change leaves out stays as it was; approvals are replaced as a whole. */
export type PermissionChange = Partial<PermissionSettings> & { readonly approvals?: readonly Approval[] };

/** A session without settings of its own. */
export const initialPermissions: PermissionSettings = {
  mode: 'manual',
  allow: [],
  deny: [],
  urls: [],
  locations: [],
};

/** Switches that permit much at once. They are not stored: who resumes a session could not see that they are on. */
export interface PermissionSwitches {
  readonly approvesAll: boolean;
  readonly approvesReads: boolean;
  readonly allowsAnyPath: boolean;
  readonly allowsAnyUrl: boolean;
}

/** All of them off. */
export const noSwitches: PermissionSwitches = {
  approvesAll: false,
  approvesReads: false,
  allowsAnyPath: false,
  allowsAnyUrl: false,
};
