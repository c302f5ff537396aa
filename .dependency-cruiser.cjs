/** Which packages each package may import. Nothing imports what is not listed; tests may also use the testkit, the embedded store and what apps test with. */
const layers = {
  cli: [
    'server',
    'http-door',
    'mcp-server',
    'model-access',
    'telemetry',
    'offline-model',
    'store-sqlite',
    'store-postgres',
    'cluster',
    'tenants',
    'webhooks',
    'store',
    'runtime',
    'models',
    'sdk',
    'terminal',
    'acp-agent',
    'inspector',
    'rpc',
    'protocol',
  ],
  terminal: ['sdk'],
  'acp-agent': ['sdk'],
  inspector: ['sdk'],
  server: ['runtime', 'store', 'rpc', 'protocol'],
  'store-sqlite': ['store', 'sqlite-node20'],
  'store-postgres': ['store'],
  cluster: ['server', 'store', 'rpc'],
  tenants: ['protocol'],
  webhooks: ['runtime', 'store', 'protocol'],
  store: [],
  runtime: ['store', 'models', 'protocol'],
  sdk: ['rpc', 'protocol'],
  testing: ['sdk'],
  testkit: ['testing', 'server', 'store-sqlite', 'store', 'runtime', 'models', 'sdk', 'rpc', 'protocol'],
  'model-access': ['runtime', 'offline-model', 'models'],
  telemetry: ['runtime', 'models', 'protocol'],
  'offline-model': ['models'],
  models: ['http-client'],
  'http-client': [],
  'http-door': [],
  'mcp-server': ['sdk'],
  rpc: [],
  protocol: [],
  'sqlite-node20': [],
};

/** What others may import of a package. */
const door =
  '^packages/([^/]+/src/index\\.ts|sdk/src/browser\\.ts|sqlite-node20/sqlite\\.cjs|rpc/test/channel-contract\\.ts)$';

/** Tests, and the files only they use. */
const tests = '(\\.test\\.tsx?$|^packages/[^/]+/test/)';

const packageRules = Object.entries(layers).flatMap(([name, allowed]) => [
  forbid(
    `${name}-imports`,
    { path: `^packages/${name}/`, pathNot: tests },
    { path: '^packages/', pathNot: `^packages/(${[name, ...allowed].join('|')})/` },
  ),
  forbid(
    `${name}-tests-import`,
    { path: `^packages/${name}/.*${tests}` },
    {
      path: '^packages/',
      pathNot: `^packages/(${[name, ...allowed, 'testkit', 'testing', 'store-sqlite'].join('|')})/`,
    },
  ),
]);

const runtime = '^packages/runtime/src';

const folderRules = [
  forbid(
    'the-fold-is-pure',
    { path: `${runtime}/log/(fold|fold-agent|snapshot|state)\\.ts$` },
    { dependencyTypes: ['core'] },
  ),
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
    { path: '^(e2e|chaos|compat|security|bench|scripts|examples)/' },
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
