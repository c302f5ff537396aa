import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const repository = join(import.meta.dirname, '..');
const compiler = join(repository, 'node_modules', 'typescript-native', 'bin', 'tsc');

/** Writes the types of a package, of more entries it has, and of all it takes from others: `<outDir>/<package>/src/…`. */
export function emitTypes(packageName, outDir, more = []) {
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
    files: ['index.ts', ...more].map((name) => join(repository, 'packages', packageName, 'src', name)),
  };
  mkdirSync(outDir, { recursive: true });
  writeFileSync(project, JSON.stringify(config));
  execFileSync(process.execPath, [compiler, '-p', project], { stdio: ['ignore', 2, 2] });
}
