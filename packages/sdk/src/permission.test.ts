import { expect, test } from 'vitest';
import { PermissionHandler, type PermissionRequestResult } from './permission.js';

test('a handler of every answer compiles, and one of any other does not', () => {
  const answers: readonly PermissionRequestResult[] = [
    { kind: 'approve-once' },
    { kind: 'approve-for-session', approval: { kind: 'commands', commandIdentifiers: ['git'] } },
    { kind: 'approve-for-session', domain: 'example.org' },
    { kind: 'approve-for-location', approval: { kind: 'read' }, locationKey: '/a' },
    { kind: 'approve-permanently', domain: 'example.org' },
    { kind: 'reject', feedback: 'Not here' },
    { kind: 'user-not-available' },
    { kind: 'no-result' },
  ];
  // @ts-expect-error there is no such answer
  const approve: PermissionHandler = () => ({ kind: 'approve' });
  // @ts-expect-error it does not say what else is approved
  const approveMore: PermissionHandler = () => ({ kind: 'approve-for-session' });
  // @ts-expect-error there is no such approval
  const approveWrong: PermissionRequestResult = { kind: 'approve-for-session', approval: { kind: 'reads' } };
  // @ts-expect-error the place is missing
  const approvePlace: PermissionRequestResult = { kind: 'approve-for-location', approval: { kind: 'read' } };
  // @ts-expect-error a decision of later makes no difference
  const approveLater: PermissionHandler = async () => ({ kind: 'approved!' });
  expect([approve, approveMore, approveWrong, approvePlace, approveLater, ...answers]).toHaveLength(13);
});

test('the ready-made handlers approve by kind, reject and leave to others', () => {
  const ask = (handler: PermissionHandler) =>
    handler(
      { kind: 'read', intention: 'Read', path: '/a' },
      { sessionId: 's', requestId: 'r' },
      new AbortController().signal,
    );
  expect([
    ask(PermissionHandler.approveAll),
    ask(PermissionHandler.approveKinds('read')),
    ask(PermissionHandler.approveKinds('write')),
    ask(PermissionHandler.rejectAll()),
    ask(PermissionHandler.leaveToOthers),
  ]).toEqual([
    { kind: 'approve-once' },
    { kind: 'approve-once' },
    { kind: 'reject', feedback: 'read is not permitted here' },
    { kind: 'reject' },
    { kind: 'no-result' },
  ]);
});
