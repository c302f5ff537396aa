/** Which packages each package may import. Nothing imports what is not listed; tests may also use the testkit and what apps test with. */
const layers = {
  cli: ['server', 'runtime', 'models', 'sdk', 'rpc', 'protocol'],
  server: ['runtime', 'rpc', 'protocol'],
  runtime: ['models', 'protocol', 'sqlite-node20'],
  sdk: ['rpc', 'protocol'],
  testing: ['sdk'],
  testkit: ['server', 'runtime', 'models', 'sdk', 'rpc', 'protocol'],
  models: [],
  rpc: [],
  protocol: [],
  'sqlite-node20': [],
};

/** What others may import of a package. */
const door = '^packages/([^/]+/src/index\\.ts|sqlite-node20/sqlite\\.cjs)$';

/** Tests, and the files only they use. */
const tests = '(\\.test\\.tsx?$|^packages/[^/]+/test/|/(chaos|contract)/[^/]+\\.ts$)';

const packageRules = Object.entries(layers).flatMap(([name, allowed]) => [
  forbid(
    `${name}-imports`,
    { path: `^packages/${name}/`, pathNot: tests },
    { path: '^packages/', pathNot: `^packages/(${[name, ...allowed].join('|')})/` },
  ),
  forbid(
    `${name}-tests-import`,
    { path: `^packages/${name}/.*${tests}` },
    { path: '^packages/', pathNot: `^packages/(${[name, ...allowed, 'testkit', 'testing'].join('|')})/` },
  ),
]);

const runtime = '^packages/runtime/src';

const folderRules = [
  forbid(
    'tools-are-leaves',
    { path: `${runtime}/tools/`, pathNot: tests },
    { path: `${runtime}/(session/|loop/|runtime\\.ts$)` },
  ),
  forbid(
    'loop-below-session',
    { path: `${runtime}/loop/`, pathNot: tests },
    { path: `${runtime}/(session/session|runtime)\\.ts$` },
  ),
  forbid(
    'store-is-a-leaf',
    { path: `${runtime}/store/`, pathNot: tests },
    { path: `${runtime}/([^/]+/|runtime\\.ts$)`, pathNot: `${runtime}/store/` },
  ),
  forbid('state-is-pure', { path: `${runtime}/session/state\\.ts$` }, { dependencyTypes: ['core'] }),
  forbid(
    'handlers-are-siblings',
    { path: '^packages/server/src/handlers/(?!catalog)([^/.]+)' },
    { path: '^packages/server/src/handlers/', pathNot: '^packages/server/src/handlers/($1|catalog)\\.ts$' },
  ),
];

const doorRules = [
  forbid(
    'front-door-only',
    { path: '^packages/([^/]+)/' },
    { path: '^packages/(?!$1/)[^/]+/', pathNot: door },
  ),
  forbid(
    'front-door-only',
    { path: '^(e2e|chaos|security|bench|scripts|examples)/' },
    { path: '^packages/', pathNot: door },
  ),
  forbid('one-door-per-package', {}, { path: '^packages/[^/]+/src/.+/index\\.ts$' }),
  forbid('tests-are-not-imported', { pathNot: tests }, { path: tests }),
  forbid('tests-stand-alone', {}, { path: '\\.test\\.tsx?$' }),
  forbid('no-cycles', {}, { circular: true }),
  forbid('nothing-unresolved', {}, { couldNotResolve: true, pathNot: '(^|/)dist/' }),
];

module.exports = {
  forbidden: [...packageRules, ...folderRules, ...doorRules],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|dist-failpoints|fixtures|coverage)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};

function forbid(name, from, to) {
  return { name, severity: 'error', from, to };
}
