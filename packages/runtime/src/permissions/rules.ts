import { addressCovers } from './addresses.js';
import { matchesAllowRule, matchesDenyRule } from './command-rules.js';
import { patternCovers } from './path-patterns.js';
import type { Subject } from './subject.js';

/** One line of what may run or may not: a kind of request, and which of that kind; `null` is all. */
export interface Rule {
  readonly kind: string;
  /** `git push` or `git:*` for commands, a directory, file or pattern for paths, a host or address for URLs, a name for tools. */
  readonly argument: string | null;
  /** Where users find the rule, such as a file and its line. */
  readonly origin?: string;
}

/** True when any part of the subject is what the rule forbids. */
export function isForbidden(subject: Subject, rule: Rule): boolean {
  const { request, toolName } = subject;
  const { argument } = rule;
  const kind = plainKind(rule.kind);
  if (kind === 'tool') return toolName !== undefined && (argument === null || argument === toolName);
  if (request === undefined) return false;
  if (pathKinds.has(kind) && argument !== null) {
    const isInside = inside(rule, subject);
    return mayTouch(subject, kind) && subject.paths.some((path) => path.names.some(isInside));
  }
  if (request.kind !== 'shell')
    return request.kind === kind ? isNamed(subject, rule) : isServer(request, rule);
  if (kind === 'shell')
    return argument === null || subject.commands.some((command) => matchesDenyRule(command, argument));
  if (kind === 'url')
    return argument !== null && request.possibleUrls.some(({ url }) => addressCovers(argument, url));
  return kind === 'write' && request.hasWriteFileRedirection;
}

/** True when the subject is, in all its parts, what the rule allows. */
export function isAllowed(subject: Subject, rule: Rule): boolean {
  const { request, toolName, prompt } = subject;
  const { argument } = rule;
  const kind = plainKind(rule.kind);
  if (kind === 'tool') return toolName !== undefined && argument === toolName;
  if (request === undefined) return false;
  if (request.kind === 'shell') return kind === 'shell' && areCommandsAllowed(subject, argument);
  if (prompt?.kind === 'path')
    return argument !== null && isOfAccess(kind, prompt.accessKind) && areAllInside(subject, rule);
  if (kind === 'path')
    return (request.kind === 'read' || request.kind === 'write') && areAllInside(subject, rule);
  return request.kind === kind ? isNamed(subject, rule) : isServer(request, rule);
}

/** A rule as users read it. */
export function describeRule({ kind, argument, origin }: Rule): string {
  const text = argument === null ? kind : `${kind}(${argument})`;
  return origin === undefined ? text : `${text} (${origin})`;
}

/** Two rules that say the same, wherever they stand. */
export function isSameRule(one: Rule, other: Rule): boolean {
  return plainKind(one.kind) === plainKind(other.kind) && one.argument === other.argument;
}

/** Commands go by several names on the wire. */
function plainKind(kind: string): string {
  return kind === 'commands' || kind === 'bash' || kind === 'powershell' ? 'shell' : kind;
}

const pathKinds: ReadonlySet<string> = new Set(['path', 'read', 'write']);

/** What may not be read may not be edited either; what may not be written may still be looked at. */
function mayTouch({ request, prompt }: Subject, kind: string): boolean {
  if (request === undefined) return false;
  if (kind !== 'write') return true;
  if (request.kind === 'shell') return !request.commands.every(({ readOnly }) => readOnly);
  return request.kind === 'write' || (prompt?.kind === 'path' && prompt.accessKind === 'write');
}

function isOfAccess(kind: string, access: 'read' | 'write' | 'shell'): boolean {
  return kind === 'path' || kind === access;
}

function inside({ argument }: Rule, { workingDirectory }: Subject): (name: string) => boolean {
  return patternCovers(argument ?? '/', workingDirectory);
}

/** Each path, by every name it has: a link that leads elsewhere is not inside. */
function areAllInside(subject: Subject, rule: Rule): boolean {
  if (rule.argument === null) return true;
  const isInside = inside(rule, subject);
  return (
    subject.paths.length > 0 && subject.paths.every(({ names }) => names.length > 0 && names.every(isInside))
  );
}

/** A command alone may not lead out of the directories: what it touches must be inside, or allowed by its own. */
function areCommandsAllowed(subject: Subject, argument: string | null): boolean {
  if (argument === null) return true;
  const { request, commands, risks } = subject;
  const isUnderstood = request?.kind === 'shell' && request.canOfferSessionApproval && risks.length === 0;
  return (
    isUnderstood && commands.length > 0 && commands.every((command) => matchesAllowRule(command, argument))
  );
}

type Request = NonNullable<Subject['request']>;

/** On the wire, a rule for the tools of an MCP server may go by the server's name. */
function isServer(request: Request, { kind, argument }: Rule): boolean {
  if (request.kind !== 'mcp' || request.serverName !== kind) return false;
  return argument === null || argument === request.toolName;
}

/** A tool of a server is named as the model knows it, or as the server does. */
function isToolOf({ serverName, toolName }: McpRequest, argument: string): boolean {
  if (!argument.startsWith(`${serverName}/`)) return false;
  const tool = argument.slice(serverName.length + 1);
  return tool === toolName || `${serverName}-${tool}`.replace(/[^a-zA-Z0-9_-]/g, '-') === toolName;
}

type McpRequest = Extract<Request, { readonly kind: 'mcp' }>;

/** Whether a rule's argument means what a request of its kind is about. */
function isNamed(subject: Subject, rule: Rule): boolean {
  const { request } = subject;
  const { argument } = rule;
  if (argument === null) return true;
  switch (request?.kind) {
    case 'read':
    case 'write':
      return areAllInside(subject, rule);
    case 'url':
      return addressCovers(argument, request.url);
    case 'custom-tool':
    case 'hook':
      return request.toolName === argument;
    case 'mcp':
      return argument === request.serverName || isToolOf(request, argument);
    default:
      return false;
  }
}
