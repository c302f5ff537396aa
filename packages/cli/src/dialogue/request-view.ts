import type { PermissionInvocation, PermissionRequest } from '@groundcrew/sdk';
import { describeRequest } from '../terminal/describe.js';
import { visible } from '../terminal/visible.js';
import { colouredDiff, type Paint } from './diff-view.js';

/** A question for permission, line by line: what would happen, all of it, and why. Nothing is cut off. */
export function viewRequest(
  request: PermissionRequest,
  { promptRequest }: Pick<PermissionInvocation, 'promptRequest'>,
  paint: Paint,
): readonly string[] {
  if (promptRequest?.kind === 'path')
    return [
      `Allow to ${promptRequest.accessKind === 'write' ? 'write' : 'look'} outside the working directory?`,
      ...promptRequest.paths.map((path) => `    ${visible(path)}`),
    ];
  if (request.kind === 'shell') return viewCommand(request);
  const question = `Allow to ${describeRequest(request)}?`;
  if (request.kind === 'write') return [question, ...colouredDiff(request.diff, paint)];
  return request.kind === 'url' ? [question, ...why(request.intention)] : [question];
}

function viewCommand(request: Extract<PermissionRequest, { kind: 'shell' }>): readonly string[] {
  const { fullCommandText, intention, warning } = request;
  const lines = fullCommandText.replace(/\n$/, '').split('\n');
  const command =
    lines.length === 1
      ? [`Allow to run ${visible(fullCommandText)}?`]
      : ['Allow to run these lines?', ...lines.map((line) => `    ${visible(line)}`)];
  return [
    ...command,
    ...why(intention),
    ...(warning === undefined ? [] : [`  careful: ${visible(warning)}`]),
  ];
}

function why(intention: string | undefined): readonly string[] {
  return intention ? [`  why: ${visible(intention)}`] : [];
}
