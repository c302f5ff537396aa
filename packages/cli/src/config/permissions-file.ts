import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RuntimeOptions, UserRules } from '@groundcrew/runtime';
import { RulesFault, readRules } from './permissions-rules.js';
import { settingsText } from './settings-text.js';

/** Where a home keeps the user's rules. */
export function permissionsPath(homeDirectory: string): string {
  return join(homeDirectory, 'permissions.json');
}

/**
 * The user's rules for every session: those of the home, and of the `configDir` that a session names besides, so that no
 * client gets round the former. A file is read again when it has changed.
 */
export function userRules(homeDirectory: string): RuntimeOptions['userRules'] {
  const home = resolve(homeDirectory);
  const own = new RulesFile(permissionsPath(home));
  const others = new Map<string, RulesFile>();
  return (configDir) => {
    const directory = configDir === undefined ? home : resolve(configDir);
    if (directory === home) return own.rules();
    const other = others.get(directory) ?? new RulesFile(permissionsPath(directory));
    others.set(directory, other);
    return joined(own.rules(), other.rules());
  };
}

/** Reads a file of rules once, as it is now; none is as good as an empty one. Throws RulesFault. */
export function readRulesFile(path: string): UserRules {
  const source = sourceOf(path);
  return source === undefined ? noRules : readRules(source, path);
}

const noRules: UserRules = { deny: [], allow: [] };

/** A file that is read again when it has changed. */
class RulesFile {
  private known: { readonly stamp: string; readonly rules: UserRules } | undefined;

  constructor(private readonly path: string) {}

  rules(): UserRules {
    const stamp = stampOf(this.path);
    if (this.known?.stamp !== stamp) this.known = { stamp, rules: rulesOrProblem(this.path) };
    return this.known.rules;
  }
}

/** Rules that cannot be read forbid everything: what they forbade is unknown. */
function rulesOrProblem(path: string): UserRules {
  try {
    return readRulesFile(path);
  } catch (error) {
    if (!(error instanceof RulesFault)) throw error;
    return { ...noRules, problem: `${error.message}. No tool runs until this is fixed.` };
  }
}

function joined(own: UserRules, more: UserRules): UserRules {
  const problem = own.problem ?? more.problem;
  return {
    deny: [...own.deny, ...more.deny],
    allow: [...own.allow, ...more.allow],
    ...(problem !== undefined && { problem }),
  };
}

function sourceOf(path: string): string | undefined {
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > largestFile)
      throw new RulesFault(`${path}: has ${size} bytes; rules have at most ${largestFile}`);
    return settingsText(path);
  } catch (error) {
    if (error instanceof RulesFault) throw error;
    throw new RulesFault(`${path}: cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** It is read at once, by the thread that serves every client. */
const largestFile = 1024 * 1024;

/** Most homes have no such file: that is no error to be made anew at each call of a tool. */
const missing = 'ENOENT';

function stampOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (!stats) return missing;
    const { ino, size, mtimeNs, ctimeNs, mode } = stats;
    return [ino, size, mtimeNs, ctimeNs, mode].join(' ');
  } catch (error) {
    return codeOf(error);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
