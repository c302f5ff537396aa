import { UsageError } from '../flags/arguments.js';

/** What a question for permission may be about. */
export const permissionKinds = [
  'shell',
  'write',
  'read',
  'mcp',
  'url',
  'memory',
  'custom-tool',
  'hook',
] as const;

/** What a rule may be about besides; only with a name of it. */
const namedKinds = ['tool', 'path'] as const;

/** A kind of question, and which of that kind: `git:*` for commands, a directory or pattern, a host; null is all. */
export interface AllowRule {
  readonly kind: (typeof permissionKinds)[number] | (typeof namedKinds)[number];
  readonly argument: string | null;
}

/** What runs without a question: everything, or what these rules say. */
export type Allowed = 'all' | readonly AllowRule[];

/** Reads `all`, or rules separated by commas: a kind, or a kind and which of it in brackets. Throws UsageError. */
export function readAllowed(text: string, name: string): Allowed {
  if (text === 'all') return text;
  // A comma in brackets belongs to the rule.
  return text.split(/,(?![^(]*\))/).map((rule) => readRule(rule.trim(), name));
}

/** Reads one rule. Throws UsageError. */
export function readRule(text: string, name: string): AllowRule {
  const [, word, argument] = /^([a-z-]+)(?:\((.+)\))?$/s.exec(text) ?? [];
  const kind = [...permissionKinds, ...(argument === undefined ? [] : namedKinds)].find(
    (each) => each === word,
  );
  if (kind) return { kind, argument: argument?.trim() ?? null };
  throw new UsageError(
    `${name} needs all, or rules such as write or shell(git:*), of ${permissionKinds.join(', ')}; not ${text}`,
  );
}

/**
 * Whether it runs unasked. What managed settings reserve for users is always asked; a place outside is a question
 * of its own, which a permission to read does not answer.
 */
export function permits(
  allowed: Allowed,
  request: { readonly kind: string; readonly managedApprovalRequired?: boolean | undefined },
  { promptRequest }: { readonly promptRequest?: { readonly kind: string } },
): boolean {
  if (request.managedApprovalRequired) return false;
  if (allowed === 'all') return true;
  if (promptRequest?.kind === 'path') return false;
  return allowed.some(({ kind, argument }) => argument === null && kind === request.kind);
}

/** The rules that say which of a kind: whether a call is one of those, the runtime knows. */
export function particular(allowed: Allowed): readonly AllowRule[] {
  return allowed === 'all' ? [] : allowed.filter(({ argument }) => argument !== null);
}
