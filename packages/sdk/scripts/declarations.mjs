import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const repository = join(import.meta.dirname, '..', '..', '..');
const compiler = join(repository, 'node_modules', 'typescript-native', 'bin', 'tsc');

/** The types of the SDK and of all it takes from other packages, by their path in the published package. */
export function declarations() {
  const folder = mkdtempSync(join(tmpdir(), 'groundcrew-sdk-types-'));
  try {
    emit(folder);
    const paths = readdirSync(folder, { recursive: true })
      .filter((path) => path.endsWith('.d.ts'))
      .sort();
    return new Map(
      paths.map((path) => [publishedPath(path), published(readFileSync(join(folder, path), 'utf8'))]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function emit(outDir) {
  const project = join(outDir, 'tsconfig.json');
  const config = {
    extends: join(repository, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      stripInternal: true,
      outDir,
      rootDir: join(repository, 'packages'),
      typeRoots: [join(repository, 'node_modules', '@types')],
      paths: { '@groundcrew/*': [join(repository, 'packages', '*', 'src', 'index.ts')] },
    },
    include: [],
    files: [join(repository, 'packages', 'sdk', 'src', 'index.ts')],
  };
  mkdirSync(dirname(project), { recursive: true });
  writeFileSync(project, JSON.stringify(config));
  execFileSync(process.execPath, [compiler, '-p', project], { stdio: ['ignore', 2, 2] });
}

/** The SDK's own files stand at the top, those of other packages in a folder each. */
function publishedPath(path) {
  return path
    .replaceAll('\\', '/')
    .replace(/^sdk\/src\//, '')
    .replace(/^([^/]+)\/src\//, '$1/');
}

function published(text) {
  return text.replaceAll(/(['"])@groundcrew\/([a-z]+)\1/g, "'./$2/index.js'");
}
