import type { KnownWord } from '../command-word.js';
import { optionTable, type ParsedCall, parseCall, parseGoCall } from '../options.js';
import { leadsElsewhere } from './jq-filter.js';
import { cloned, making } from './made-files.js';
import { each, type Program, program, subcommands, type Understood, valuesOf } from './program.js';

const cargoOptions =
  '-qv -p: -j: -F: --release --package= --all --workspace --exclude= --features= --all-features --no-default-features --lib --bin= ' +
  '--bins --example= --examples --test= --tests --bench= --benches --all-targets --doc --jobs= --keep-going --quiet --verbose --locked ' +
  '--offline --frozen --message-format= --no-run --no-fail-fast --profile= --color= --no-deps --open --check --depth= --dev --optional';
const goFlags = new Set(
  'v x n a race msan cover short json failfast c i m u d e deps find test work fullpath mod-mod all'.split(
    ' ',
  ),
);
const goValues = new Set(
  'run skip count timeout bench benchtime cpu parallel covermode coverprofile coverpkg tags o p list f shuffle vet'.split(
    ' ',
  ),
);

/**
 * Programs that run what the project defines under a name: an approval is for that name. What makes them take it from
 * elsewhere (other files, places, settings, shells) is not among their options here.
 */
export const runners: readonly (readonly [string, Program])[] = [
  ...each(
    'make gmake',
    oneTarget(
      '-kisnBqw -j? -l? -O? --keep-going --ignore-errors --silent --quiet --dry-run --just-print --always-make --no-print-directory --jobs=? --trace --output-sync=? --version --help',
    ),
  ),
  ...each('just rake', oneTarget('-nqv --dry-run --quiet --verbose --list --summary --version --help')),
  ...each(
    'gradle gradlew',
    oneTarget(
      '-qisd --quiet --info --stacktrace --debug --offline --parallel --no-daemon --continue --dry-run --version --help',
    ),
  ),
  ['mvn', oneTarget('-qBoeX --quiet --batch-mode --offline --errors --version --help')],
  ['npm', subcommands(packageManager(), optionTable('-s --silent --version'))],
  ['pnpm', subcommands(packageManager(), optionTable('-s --silent --version'))],
  ['yarn', subcommands(packageManager(), optionTable('-s --silent --version'))],
  ['bun', subcommands(packageManager(), optionTable('-s --silent --version'))],
  ['cargo', subcommands(cargo(), optionTable('-qvV --quiet --verbose --version'))],
  ['go', subcommands(go())],
  ...each('pip pip3', subcommands(pip(), optionTable('-qvV --quiet --verbose --version'))),
  ...each('docker podman', subcommands(docker(), optionTable('-v --version'))),
  ['kubectl', subcommands(kubectl())],
  ['gh', subcommands(github(), optionTable('--version'))],
  ...each('apt apt-get', subcommands(apt(), optionTable('-qvy --quiet --version --yes --assume-yes'))),
  [
    'systemctl',
    subcommands(
      new Map(
        each(
          'status is-active is-enabled list-units start stop restart reload enable disable',
          program(
            'runs',
            '-lq -n: -t: --no-pager --full --quiet --user --now --type= --all --state= --version',
            {
              fits: namesNoFile,
            },
          ),
        ),
      ),
    ),
  ],
  [
    'terraform',
    subcommands(named('plan apply destroy init validate fmt show output state version', '--help --version')),
  ],
  [
    'tsc',
    program(
      'runs',
      '-wbv -p: --noEmit --watch --build --version --pretty --strict --listFiles --project= --skipLibCheck',
      // A file of options.
      { fits: ({ operands }) => operands.every(({ value }) => !value.startsWith('@')) },
    ),
  ],
];

function namesNoFile({ operands }: ParsedCall): boolean {
  return operands.every(({ value }) => !value.includes('/'));
}

/** One task; a second one would run under the name of the first. */
function oneTarget(options: string): Program {
  return program('runs', options, {
    fits: ({ operands }) => operands.length <= 1 && operands.every(({ value }) => !/[=:]/.test(value)),
  });
}

function named(names: string, options: string): ReadonlyMap<string, Program> {
  return new Map(each(names, program('runs', options)));
}

/** A script is run with what follows its name, and that is for the script to read. */
function script(options: string): Program {
  const table = optionTable(options);
  return (words) => {
    const call = parseCall(words, table, { stopsAtOperand: true });
    if (!call) return undefined;
    const at = words.findIndex(({ value }) => value === '--');
    // The package manager reads options behind the script's name as well, up to `--`.
    const own = parseCall(at < 0 ? words : words.slice(0, at), table);
    return (
      own && {
        role: 'runs',
        options: own.options,
        operands: [...own.operands, ...(at < 0 ? [] : words.slice(at + 1))],
      }
    );
  };
}

function packageManager(): ReadonlyMap<string, Program> {
  const scripts = script(
    '-s -w: --silent --if-present --workspace= --workspaces --loglevel= --include-workspace-root --filter=',
  );
  const installs = program(
    'runs',
    '-DSEOPBfs -w: --save --save-dev --save-exact --save-optional --save-prod --save-peer --no-save --dev --exact --omit= --include= ' +
      '--legacy-peer-deps --strict-peer-deps --force --ignore-scripts --no-audit --no-fund --no-optional --silent --production ' +
      '--prefer-offline --offline --workspace= --workspaces --frozen-lockfile --no-frozen-lockfile --dry-run --package-lock-only ' +
      '--immutable --loglevel=',
  );
  const looks = program(
    'runs',
    '-la -w: --all --depth= --json --long --parseable --omit= --include= --production --silent --workspace= --workspaces',
  );
  return new Map([
    ...each('run run-script test t tst start stop restart', scripts),
    ...each('install i ci add remove rm uninstall un update up upgrade dedupe prune rebuild', installs),
    ...each('ls list outdated audit view info why explain fund root bin ping whoami search licenses', looks),
    ...each('build lint format check typecheck dev watch', scripts),
  ]);
}

/** Behind `--` stand the words of what is run. */
function cargo(): ReadonlyMap<string, Program> {
  const table = optionTable(cargoOptions);
  const runs: Program = (words) => {
    const at = words.findIndex(({ value }) => value === '--');
    const own = parseCall(at < 0 ? words : words.slice(0, at), table);
    const rest = at < 0 ? [] : words.slice(at + 1);
    return own && rest.every(({ kind }) => kind !== 'dynamic')
      ? { role: 'runs', options: own.options, operands: [...own.operands, ...rest] }
      : undefined;
  };
  return new Map(
    each(
      'build b check c test t run r bench doc clippy fmt clean update add remove tree metadata fetch search',
      runs,
    ),
  );
}

function go(): ReadonlyMap<string, Program> {
  const plain = (words: readonly KnownWord[]): Understood | undefined => {
    const call = parseGoCall(words, { flags: goFlags, values: goValues });
    return call && { role: 'runs', ...call };
  };
  const asks = (words: readonly KnownWord[]): Understood | undefined =>
    words.every(({ kind, value }) => kind === 'literal' && /^(?:[A-Z]\w*|-json)$/.test(value))
      ? { role: 'runs', options: [], operands: [] }
      : undefined;
  return new Map([
    ...each('build test vet fmt list doc install get clean mod generate', plain),
    ['run', runGo],
    ['env', asks],
    ['version', asks],
  ]);
}

/** What follows the program is for it to read. */
function runGo(words: readonly KnownWord[]): Understood | undefined {
  const at = words.findIndex(({ value }) => !value.startsWith('-'));
  if (at !== 0 || words.some(({ kind }) => kind === 'dynamic')) return undefined;
  return { role: 'runs', options: [], operands: words };
}

function pip(): ReadonlyMap<string, Program> {
  const options =
    '-qvU -e: -r: --quiet --verbose --upgrade --user --no-deps --pre --no-cache-dir --requirement= --editable= --dry-run --break-system-packages';
  return new Map([
    ...each('install uninstall download', program('runs', `${options} -y --yes`)),
    ...each(
      'list show freeze check',
      program('runs', '-lov --outdated --format= --local --user --not-required'),
    ),
  ]);
}

function docker(): ReadonlyMap<string, Program> {
  const looks = program(
    'runs',
    '-aqsfnl -f: -n: --all --filter= --format= --no-trunc --quiet --tail= --since= --follow --timestamps --size --latest',
  );
  const compose = subcommands(
    new Map([
      ...each(
        'ps logs images top config ls',
        program('runs', '-aqft --all --quiet --follow --tail= --timestamps --services --format='),
      ),
      ...each(
        'up down build stop start restart pull rm',
        program(
          'runs',
          '-dvfst --detach --build --volumes --remove-orphans --no-deps --force --no-cache --pull --wait --stop --timeout=',
        ),
      ),
    ]),
  );
  return new Map([
    ...each('ps images logs inspect top stats version info history port diff', looks),
    ...each(
      'stop start restart rm rmi kill pull push tag pause unpause wait',
      program('runs', '-fv -t: --force --volumes --time='),
    ),
    [
      'build',
      program(
        'runs',
        '-q -t: -f: --tag= --file= --no-cache --pull --build-arg= --target= --progress= --platform= --quiet',
      ),
    ],
    ['compose', compose],
  ]);
}

function kubectl(): ReadonlyMap<string, Program> {
  const options =
    '-AwLR -n: -l: -o: -c: -f: --namespace= --all-namespaces --selector= --output= --watch --show-labels --container= --follow --tail= ' +
    '--since= --previous --all --wide --field-selector= --sort-by= --no-headers';
  return new Map(
    each(
      'get describe logs top explain api-resources version cluster-info rollout apply delete scale',
      program('runs', options),
    ),
  );
}

function github(): ReadonlyMap<string, Program> {
  const options =
    '-L: -s: -a: -l: -q: -t: -R: -S: -B: -H: -A: -b: -c: -m: -r: -F: -dw --limit= --state= --assignee= --author= --label= --search= --json= --jq= ' +
    '--template= --repo= --base= --head= --title= --body= --body-file= --draft --comments --web --fill --squash --merge --rebase --delete-branch ' +
    '--log --log-failed --job= --workflow= --branch= --user= --status= --commit= --event= --name-only --patch --color= --reviewer= --milestone=';
  const harmless = program('runs', options, {
    // Behind `--` stand options of git.
    fits: (call) =>
      call.operands.every(({ value }) => !value.startsWith('-')) &&
      !valuesOf(call, '-q', '--jq').some(leadsElsewhere),
  });
  const nested = subcommands(
    new Map([
      ...each(
        'list view status create edit close reopen comment diff checks merge ready review checkout watch rerun cancel fork sync delete',
        harmless,
      ),
      ['clone', making(cloned, harmless)],
      // What it fetches is unpacked here.
      ['download', making(() => ({ unpacked: ['.'] }), harmless)],
    ]),
  );
  return new Map([
    ...each('pr issue repo run release workflow label gist', nested),
    ['auth', subcommands(new Map(each('status', program('runs', '-h: --hostname='))))],
    ['status', program('runs', '')],
  ]);
}

function apt(): ReadonlyMap<string, Program> {
  return new Map(
    each(
      'install remove purge update upgrade autoremove list show search policy',
      program(
        'runs',
        '-yqs --yes --assume-yes --quiet --no-install-recommends --dry-run --simulate --installed --upgradable --reinstall --fix-broken',
        // A package or a unit that is a file may have been made by the session.
        { fits: namesNoFile },
      ),
    ),
  );
}
