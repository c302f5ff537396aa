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

/** What runs without a question: everything, or these kinds. */
export type Allowed = 'all' | readonly (typeof permissionKinds)[number][];

/** Whether nobody has to be asked; what managed settings reserve for people is always asked. */
export function permits(
  allowed: Allowed,
  request: { readonly kind: string; readonly managedApprovalRequired?: boolean | undefined },
): boolean {
  if (request.managedApprovalRequired) return false;
  return allowed === 'all' || allowed.some((kind) => kind === request.kind);
}
