import type {
  Approval,
  PermissionInvocation,
  PermissionRequest,
  PermissionRequestResult,
} from '@groundcrew/sdk';
import { visibleLines } from '../text/clean.js';
import { askedDiff } from '../text/diff.js';
import { highlight } from '../text/highlight.js';
import { type Line, line, span } from '../text/span.js';
import type { Option, Question } from './question.js';

/** What can be approved beyond one call, and how it is said. */
export interface Approvals {
  /** What a yes for longer would cover; undefined where only this call can be approved. */
  approvalFor(request: PermissionRequest, invocation: PermissionInvocation): Approval | undefined;
  /** A yes for the very text of a command. */
  textAlone(request: PermissionRequest): Approval | undefined;
  describe(approval: Approval): string;
  /** What the request is about, on one line and in full. */
  describeRequest(request: PermissionRequest): string;
}

type Decision = 'once' | 'text' | 'session' | 'always' | 'deny' | 'reason';

/** May this run? What would happen is shown in full: the exact command, the whole diff. */
export function permissionQuestion(
  request: PermissionRequest,
  invocation: PermissionInvocation,
  approvals: Approvals,
  locationKey: string,
): Question<Decision> {
  const approval = approvals.approvalFor(request, invocation);
  const alone = approvals.textAlone(request);
  const what = approval ? visible(approvals.describe(approval)) : '';
  const scope = alone ? `any use of ${what}` : what;
  const longer: readonly Option<Decision>[] = approval
    ? [
        ...(alone
          ? [{ key: 't', label: 'Yes, this text alone in this session', value: 'text' } as const]
          : []),
        { key: 's', label: `Yes, in this session (${scope})`, value: 'session' },
        { key: 'p', label: `Yes, always in this project (${scope})`, value: 'always' },
      ]
    : [];
  return {
    body: bodyOf(request, invocation, approvals),
    options: [
      { key: 'y', label: 'Yes, once', value: 'once' },
      ...longer,
      { key: 'n', label: 'No', value: 'deny' },
      { key: 'r', label: 'No, and say why', value: 'reason', asksFor: 'Why not?' },
    ],
    read: ({ value }, words) => ({
      answer: decisionOf(value as Decision, { words, approval, alone, locationKey }),
    }),
  };
}

function decisionOf(
  decision: Decision,
  given: {
    readonly words: string;
    readonly approval: Approval | undefined;
    readonly alone: Approval | undefined;
    readonly locationKey: string;
  },
): PermissionRequestResult {
  const { approval, alone, locationKey, words } = given;
  if (decision === 'text' && alone) return { kind: 'approve-for-session', approval: alone };
  if (decision === 'session' && approval) return { kind: 'approve-for-session', approval };
  if (decision === 'always' && approval) return { kind: 'approve-for-location', approval, locationKey };
  if (decision === 'once') return { kind: 'approve-once' };
  return { kind: 'reject', feedback: words === '' ? 'No.' : words };
}

function bodyOf(
  request: PermissionRequest,
  { promptRequest }: PermissionInvocation,
  approvals: Approvals,
): readonly Line[] {
  if (promptRequest?.kind === 'path') {
    const verb = promptRequest.accessKind === 'write' ? 'write' : 'look';
    return [
      line(`Allow to ${verb} outside the working directory?`, 'bold'),
      ...promptRequest.paths.map((path) => line(`  ${visible(path)}`)),
    ];
  }
  if (request.kind === 'shell') return commandBody(request);
  const title = line(`Allow to ${approvals.describeRequest(request)}?`, 'bold');
  if (request.kind === 'write') return [title, ...askedDiff(request.diff)];
  return request.kind === 'url' ? [title, ...why(request.intention)] : [title];
}

function commandBody(request: Extract<PermissionRequest, { kind: 'shell' }>): readonly Line[] {
  const { fullCommandText, intention, warning } = request;
  let state = {};
  const command = visibleLines(fullCommandText.replace(/\n$/, '')).map((text): Line => {
    const done = highlight(text, 'sh', state);
    state = done.state;
    return [span('  '), ...done.line];
  });
  return [
    line('Allow to run this command?', 'bold'),
    ...command,
    ...why(intention),
    ...(warning === undefined ? [] : [line(`careful: ${visible(warning)}`, 'warning')]),
  ];
}

function why(intention: string | undefined): readonly Line[] {
  return intention ? [line(`why: ${visible(intention)}`, 'dim')] : [];
}

function visible(text: string): string {
  return visibleLines(text).join('\\n');
}
