import type { PermissionRequest } from '@groundcrew/protocol';
import { expect, test } from 'vitest';
import { permissionChoices } from './permission-choices.js';

const shell = {
  kind: 'shell',
  canOfferSessionApproval: true,
  commands: [{ identifier: 'git', readOnly: false }],
  fullCommandText: 'git push',
  hasWriteFileRedirection: false,
  intention: '',
  possiblePaths: [],
  possibleUrls: [],
} as const satisfies PermissionRequest;

const once = { scope: 'once', label: 'Yes, once', result: { kind: 'approve-once' } };
const deny = { scope: 'deny', label: 'No', result: { kind: 'reject', feedback: 'No.' } };

test('a command can be approved for longer, where the runtime offers it', () => {
  const approval = { kind: 'commands', commandIdentifiers: ['git'] };
  const covers = 'git';
  expect(permissionChoices({ permissionRequest: shell }, '/place')).toEqual([
    once,
    {
      scope: 'session',
      label: 'Yes, in this session (git)',
      covers,
      result: { kind: 'approve-for-session', approval },
    },
    {
      scope: 'always',
      label: 'Yes, always in this project (git)',
      covers,
      result: { kind: 'approve-for-location', approval, locationKey: '/place' },
    },
    deny,
  ]);
  const notOffered = { ...shell, canOfferSessionApproval: false };
  expect(permissionChoices({ permissionRequest: notOffered }, '/place')).toEqual([once, deny]);
});

test('a command to be careful with can be approved as its text alone', () => {
  const careful = { ...shell, warning: 'It runs any program' };
  const choices = permissionChoices({ permissionRequest: careful }, '/place');
  expect(choices.map(({ label }) => label)).toEqual([
    'Yes, once',
    'Yes, this text alone in this session',
    'Yes, in this session (any use of git)',
    'Yes, always in this project (any use of git)',
    'No',
  ]);
  expect(choices[1]?.result).toEqual({
    kind: 'approve-for-session',
    approval: { kind: 'commands', commandIdentifiers: ['git push'] },
  });
});

test('an address is approved by its host, with its port where it has one; what is no address only once', () => {
  const resultsOf = (url: string) =>
    permissionChoices({ permissionRequest: { kind: 'url', intention: '', url } }, '/place').map(
      ({ result }) => result,
    );
  expect(resultsOf('https://Docs.example.com:8443/a?b')).toEqual([
    once.result,
    { kind: 'approve-for-session', domain: 'docs.example.com:8443' },
    { kind: 'approve-permanently', domain: 'docs.example.com:8443' },
    deny.result,
  ]);
  expect(resultsOf('nonsense')).toEqual([once.result, deny.result]);
});

test('a place outside the working directory is approved for this time only', () => {
  const promptRequest = { kind: 'path', accessKind: 'read', paths: ['/etc/hosts'] } as const;
  expect(permissionChoices({ permissionRequest: shell, promptRequest }, '/place')).toEqual([once, deny]);
});
