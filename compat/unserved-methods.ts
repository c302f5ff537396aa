import { join } from 'node:path';
import { methods } from '@groundcrew/protocol';
import { npmClient, textOf } from './npm-clients.js';

/**
 * For every published client, how many methods it can call and how many of them the runtime does not serve; named are
 * those that the release before it did not call.
 */
export function unservedMethods(versions: readonly string[], cache: string): string {
  const rows: string[] = [];
  let before: readonly string[] = [];
  for (const version of versions) {
    const called = calledBy(version, cache);
    const missing = called.filter((method) => !isServed(method));
    const added = missing.filter((method) => !before.includes(method)).map((method) => `\`${method}\``);
    rows.push(`| ${version} | ${called.length} | ${missing.length} | ${added.join(' ')} |`);
    before = missing;
  }
  const head = '| client | methods called | not served | of these not called by the release before |';
  return [head, '| --- | --- | --- | --- |', ...rows].join('\n');
}

function calledBy(version: string, cache: string): readonly string[] {
  npmClient(version, cache);
  const text = textOf(join(cache, 'npm', version, 'node_modules/@github/copilot-sdk/dist'));
  const found = text.matchAll(/sendRequest\(\s*"([\w.]+)"/g);
  return [...new Set([...found].map(([, method = '']) => method))].sort();
}

/** Under the name of then, too. */
function isServed(method: string): boolean {
  const now = method
    .replace(/^session\.workspace\./, 'session.workspaces.')
    .replace(/^session\.auth\./, 'session.gitHubAuth.')
    .replace(/^session\.compaction\./, 'session.history.');
  return Object.hasOwn(methods, now);
}
