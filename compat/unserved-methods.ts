import { join } from 'node:path';
import { methods } from '@groundcrew/protocol';
import { npmClient, textOf } from './npm-clients.js';

/** For every published client, the methods that it can call and the runtime does not serve; equal ones in one row. */
export function unservedMethods(versions: readonly string[], cache: string): string {
  const groups: { readonly versions: string[]; readonly called: number; readonly missing: string }[] = [];
  for (const version of versions) {
    const called = calledBy(version, cache);
    const missing = called
      .filter((method) => !isServed(method))
      .map((method) => `\`${method}\``)
      .join(' ');
    const last = groups.at(-1);
    if (last?.missing === missing && last.called === called.length) last.versions.push(version);
    else groups.push({ versions: [version], called: called.length, missing });
  }
  const rows = groups.map(({ versions: same, called, missing }) => {
    const name = same.length === 1 ? same[0] : `${same[0]} – ${same.at(-1)}`;
    const count = missing === '' ? 0 : missing.split(' ').length;
    return `| ${name} | ${called} | ${count} | ${missing} |`;
  });
  return ['| clients | methods called | not served | which |', '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}

function calledBy(version: string, cache: string): readonly string[] {
  npmClient(version, cache);
  const text = textOf(join(cache, 'npm', version, 'node_modules/@github/copilot-sdk/dist'));
  const found = text.matchAll(/sendRequest\(\s*"([\w.]+)"/g);
  return [...new Set([...found].map(([, method = '']) => method))].sort();
}

/** Under the name of then, too. */
function isServed(method: string): boolean {
  const now = method.replace(/^session\.workspace\./, 'session.workspaces.');
  return Object.hasOwn(methods, now);
}
