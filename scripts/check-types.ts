import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const compiler = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc');

/** What was checked before is not checked again: the second run of a day takes a tenth of the first. */
const remembered = join(root, 'node_modules', '.cache', 'groundcrew');

const statuses = ['tsconfig.json', 'tsconfig.browser.json'].map((project) => {
  const memory = ['--incremental', '--tsBuildInfoFile', join(remembered, `${project}.tsbuildinfo`)];
  return spawnSync(process.execPath, [compiler, '-p', project, ...memory], { cwd: root, stdio: 'inherit' })
    .status;
});
process.exitCode = statuses.every((status) => status === 0) ? 0 : 1;
