import { resolve, sep } from 'node:path';
import type { PermissionQuestion } from '../tools/tool.js';

/** One line of what may run or may not: a kind of request, and which of that kind; `null` is all. */
export interface Rule {
  readonly kind: string;
  /** `git push` or `git:*` for commands, a directory or file for paths, a domain for addresses, a name for tools. */
  readonly argument: string | null;
}

/** A rule and where the relative paths of requests start. */
export interface Applied {
  readonly rule: Rule;
  readonly workingDirectory: string;
}

/** True when any part of the request is what the rule forbids. */
export function isForbidden(question: PermissionQuestion, { rule, workingDirectory }: Applied): boolean {
  const { request } = question;
  const kind = plainKind(rule.kind);
  const { argument } = rule;
  if (request.kind === 'shell') {
    if (kind === 'shell')
      return argument === null || segmentsOf(request).some((text) => startsWith(text, argument));
    if (argument === null) return false;
    if (kind === 'url') return request.possibleUrls.some(({ url }) => isOfDomain(url, argument));
    if (kind === 'read' || kind === 'write')
      return request.possiblePaths.some((path) => isWithin(path, argument, workingDirectory));
    return false;
  }
  return request.kind === kind && (argument === null || names(question, argument, workingDirectory));
}

/** True when the request is, in all its parts, what the rule allows. */
export function isAllowed(question: PermissionQuestion, { rule, workingDirectory }: Applied): boolean {
  const { request } = question;
  if (request.kind !== plainKind(rule.kind)) return false;
  const { argument } = rule;
  if (argument === null) return true;
  if (request.kind !== 'shell') return names(question, argument, workingDirectory);
  const { commandSegments = [], canOfferSessionApproval } = request;
  const isEach = (segment: { readonly identifier: string; readonly fullCommandText: string }) =>
    argument.endsWith(':*') ? startsWith(segment.fullCommandText, argument) : segment.identifier === argument;
  return canOfferSessionApproval && commandSegments.length > 0 && commandSegments.every(isEach);
}

/** Whether a path, as it was written, stays in a directory; what the shell would expand does not. */
export function isWithin(path: string, directory: string, workingDirectory: string): boolean {
  if (/^~|\$/.test(path)) return path === directory;
  const whole = resolve(workingDirectory, path);
  const root = resolve(workingDirectory, directory);
  return whole === root || whole.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** `example.com` stands for itself and all below it. */
export function isOfDomain(url: string, domain: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname.toLowerCase() : '';
  const wanted = domain.toLowerCase().replace(/^\*\./, '');
  return host !== '' && (host === wanted || host.endsWith(`.${wanted}`));
}

/** Commands go by two names on the wire. */
function plainKind(kind: string): string {
  return kind === 'commands' || kind === 'bash' || kind === 'powershell' ? 'shell' : kind;
}

type ShellRequest = Extract<PermissionQuestion['request'], { kind: 'shell' }>;

/** Each command as written, and as it is called: `/bin/rm -r x` is also `rm -r x`. */
function segmentsOf({ commandSegments = [], commands }: ShellRequest): readonly string[] {
  const written = commandSegments.map(({ fullCommandText }) => fullCommandText);
  const named = commands.map(({ identifier }) => identifier);
  return [...written, ...named].flatMap((text) => [text, text.replace(/^\S*\//, '')]);
}

/** `git push` and `git push:*` begin `git push --force origin`. */
function startsWith(text: string, argument: string): boolean {
  const wanted = argument.replace(/:\*$/, '').split(/\s+/);
  const given = text.trim().split(/\s+/);
  return wanted.every((word, index) => given[index]?.replace(/["'\\]/g, '') === word);
}

/** Whether a rule's argument means what a request other than for the shell is about. */
function names({ request }: PermissionQuestion, argument: string, workingDirectory: string): boolean {
  switch (request.kind) {
    case 'read':
      return isWithin(request.path, argument, workingDirectory);
    case 'write':
      return isWithin(request.fileName, argument, workingDirectory);
    case 'url':
      return isOfDomain(request.url, argument);
    case 'custom-tool':
    case 'hook':
      return request.toolName === argument;
    case 'mcp':
      return argument === request.serverName || argument === `${request.serverName}/${request.toolName}`;
    default:
      return false;
  }
}
