import { realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { isWithin } from '../workspace/paths.js';
import type { Rule } from './rules.js';

/** Rules that deny a path by a name with links in it deny it by its real name too. */
export function withRealPaths(rules: readonly Rule[], workingDirectory: string): readonly Rule[] {
  return rules.flatMap((rule) => {
    const real = realArgument(rule, workingDirectory);
    return real === undefined ? [rule] : [rule, { ...rule, argument: real }];
  });
}

/** What a search must leave out, in the words of ripgrep's `--glob`. */
export function searchExclusions(rules: readonly Rule[], workingDirectory: string): readonly string[] {
  return rules.flatMap((rule) => {
    if (rule.argument === null || (rule.kind !== 'path' && rule.kind !== 'read')) return [];
    return [`!${searchPattern(rule.argument, workingDirectory)}`];
  });
}

/** The part of a pattern that stands for itself, and the rest. */
export function patternParts(pattern: string): { readonly plain: string; readonly wild: string } {
  const at = pattern.search(/[*?[{]/);
  if (at < 0) return { plain: pattern, wild: '' };
  const end = pattern.lastIndexOf('/', at) + 1;
  return { plain: pattern.slice(0, end), wild: pattern.slice(end) };
}

function realArgument({ kind, argument }: Rule, workingDirectory: string): string | undefined {
  if (argument === null || (kind !== 'path' && kind !== 'read' && kind !== 'write')) return undefined;
  const { plain, wild } = patternParts(argument);
  if (plain === '') return undefined;
  const whole = resolve(workingDirectory, plain);
  const real = realOf(whole);
  if (real === whole) return undefined;
  return wild === '' ? real : `${real}/${wild}`;
}

/** ripgrep reads a leading slash as the directory it runs in; what lies elsewhere is named from any root. */
function searchPattern(pattern: string, workingDirectory: string): string {
  const { plain, wild } = patternParts(pattern);
  if (plain === '') return wild.includes('/') && !wild.startsWith('**/') ? `/${wild}` : wild;
  const whole = resolve(workingDirectory, plain);
  const end = wild === '' ? '' : `/${wild}`;
  if (!isWithin(workingDirectory, whole)) return `**${escaped(whole)}${end}`;
  return `/${escaped(relative(workingDirectory, whole))}${end}`.replace(/^\/+/, '/');
}

function escaped(path: string): string {
  return path.replace(/[\\*?[\]{}!]/g, '\\$&');
}

/** A path with every link followed. */
export function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // What is not there has no other name.
    return path;
  }
}
