import { expect, test } from 'vitest';
import { nearestName } from './nearest-name.js';

const names = ['model', 'models', 'streaming', 'workingDirectory', 'mcpServers', 'hooks'];

test.each([
  ['Model', 'model'],
  ['streeming', 'streaming'],
  ['straeming', 'streaming'],
  ['mcpServer', 'mcpServers'],
  ['workingDir', undefined],
  ['workDirectory', 'workingDirectory'],
  ['hook', 'hooks'],
  ['temperature', undefined],
  ['x'.repeat(100_000), undefined],
])('of %s, %s was meant', (given, meant) => {
  expect(nearestName(given, names)).toBe(meant);
});
