import {
  type PermissionChoice,
  type PermissionInvocation,
  type PermissionRequest,
  type PermissionRequestResult,
  permissionChoices,
} from '@groundcrew/sdk';
import { visibleLines } from '../text/clean.js';
import { askedDiff } from '../text/diff.js';
import { highlight } from '../text/highlight.js';
import { type Line, line, span } from '../text/span.js';
import type { Question } from './question.js';

/** How a request is said. */
export interface Approvals {
  /** What the request is about, on one line and in full. */
  describeRequest(request: PermissionRequest): string;
}

const keys: Readonly<Record<PermissionChoice['scope'], string>> = {
  once: 'y',
  text: 't',
  session: 's',
  always: 'p',
  deny: 'n',
};

/** May this run? What would happen is shown in full: the exact command, the whole diff. */
export function permissionQuestion(
  request: PermissionRequest,
  invocation: PermissionInvocation,
  approvals: Approvals,
  locationKey: string,
): Question<PermissionRequestResult> {
  const { promptRequest } = invocation;
  const asked = { permissionRequest: request, ...(promptRequest && { promptRequest }) };
  const choices = permissionChoices(asked, locationKey);
  return {
    body: bodyOf(request, invocation, approvals),
    options: [
      ...choices.map(({ scope, label, result }) => ({
        key: keys[scope],
        label: visible(label),
        value: result,
      })),
      { key: 'r', label: 'No, and say why', value: { kind: 'reject', feedback: 'No.' }, asksFor: 'Why not?' },
    ],
    read: ({ value }, words) => ({
      answer: words === '' ? value : { kind: 'reject', feedback: words },
    }),
  };
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
