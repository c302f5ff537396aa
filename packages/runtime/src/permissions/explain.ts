import { locate } from '../workspace/paths.js';
import { judge, type PolicyRules, type Verdict } from './policy.js';
import type { PermissionQuestion } from './question.js';
import type { ShellReading } from './shell/reading.js';
import { examine, type Occasion, type Subject, toolSubject } from './subject.js';

/** The call that is explained. */
export type ExplainedCall =
  | { readonly type: 'command'; readonly command: string }
  | { readonly type: 'read' | 'write'; readonly path: string }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'tool'; readonly toolName: string };

/** What would become of a call, and what was read in it. */
export interface Explanation extends Verdict {
  /** Of a command. */
  readonly reading?: ShellReading;
}

/** Says what would happen to a call under these rules, and why, without running anything. */
export async function explain(
  explained: ExplainedCall,
  { freeTools, ...occasion }: Occasion & { readonly freeTools?: ReadonlySet<string> },
  rules: PolicyRules,
): Promise<Explanation> {
  if (explained.type === 'tool') {
    const call = { ...occasion, toolName: explained.toolName };
    return judge(freeTools?.has(explained.toolName) ? toolSubject(call) : await useOf(call), rules);
  }
  const question = await questionOf(explained, occasion, rules);
  const toolName = toolNames[explained.type];
  const verdict = judge(await examine(question, { toolName, ...occasion }), rules);
  if (explained.type !== 'command') return verdict;
  const { readShellCommand } = await import('./shell-command.js');
  const reading = readShellCommand(explained.command);
  const isUnsure = verdict.type === 'ask' && reading.problems.length > 0;
  const because = isUnsure
    ? `${verdict.because} It cannot be approved in advance: ${reading.problems.join('; ')}.`
    : verdict.because;
  return { ...verdict, because, reading };
}

/** A tool by its name alone: what each call of it asks for is not known. */
function useOf(occasion: Occasion & { readonly toolName: string }): Promise<Subject> {
  const { toolName } = occasion;
  return examine({ request: { kind: 'custom-tool', toolName, toolDescription: '' } }, occasion);
}

const toolNames = { command: 'bash', read: 'view', write: 'edit', url: 'web_fetch' } as const;

async function questionOf(
  explained: Exclude<ExplainedCall, { type: 'tool' }>,
  { workingDirectory }: Occasion,
  { directories, home }: PolicyRules,
): Promise<PermissionQuestion> {
  if (explained.type === 'command') {
    const { shellRequest } = await import('./shell-command.js');
    return { request: shellRequest({ command: explained.command, intention: '' }) };
  }
  if (explained.type === 'url') return { request: { kind: 'url', intention: '', url: explained.url } };
  const { path, real, isInside } = await locate(explained.path, {
    workingDirectory,
    allowedDirectories: directories,
    ...(home !== undefined && { homeDirectory: home }),
  });
  const paths = [...new Set([path, real])];
  const request =
    explained.type === 'read'
      ? { kind: 'read' as const, intention: '', path }
      : { kind: 'write' as const, intention: '', fileName: path, diff: '', canOfferSessionApproval: true };
  if (isInside) return { request, real: [real] };
  return { request, real: [real], prompt: { kind: 'path', accessKind: explained.type, paths } };
}
