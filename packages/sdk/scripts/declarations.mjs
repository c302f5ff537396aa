import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emitTypes } from '../../../scripts/emit-types.mjs';

/** The types of the SDK and of all it takes from other packages, by their path in the published package. */
export function declarations() {
  const folder = mkdtempSync(join(tmpdir(), 'groundcrew-sdk-types-'));
  try {
    emitTypes('sdk', folder, ['browser.ts']);
    const paths = readdirSync(folder, { recursive: true })
      .filter((path) => path.endsWith('.d.ts'))
      .sort();
    return new Map(
      paths.map((path) => [
        publishedPath(path),
        published(readFileSync(join(folder, path), 'utf8'), publishedPath(path)),
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The SDK's own files stand at the top, those of other packages in a folder each. */
function publishedPath(path) {
  return path
    .replaceAll('\\', '/')
    .replace(/^sdk\/src\//, '')
    .replace(/^([^/]+)\/src\//, '$1/');
}

function published(text, path) {
  const up = path.startsWith('browser/') ? '..' : '.';
  return text.replaceAll(/(['"])@groundcrew\/([a-z]+)\1/g, `'${up}/$2/index.js'`);
}
