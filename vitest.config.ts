import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const names = [
  'protocol',
  'rpc',
  'http-client',
  'models',
  'offline-model',
  'model-access',
  'store',
  'runtime',
  'store-sqlite',
  'store-postgres',
  'server',
  'cluster',
  'tenants',
  'webhooks',
  'sdk',
  'http-door',
  'mcp-server',
  'acp-agent',
  'testing',
  'testkit',
  'terminal',
  'inspector',
  'cli',
];
const source = (name: string) => fileURLToPath(new URL(`./packages/${name}/src/index.ts`, import.meta.url));

/** Asks what an import does, and so has to be the first to import it. */
const seesItsOwnImports = 'packages/protocol/src/lazy.test.ts';

/** Tests that start PostgreSQL or NATS: `verify` leaves them to `verify:full`, which has steps of its own for them. */
const withServices = [
  'packages/store-postgres/test/**',
  'packages/cluster/test/**',
  'packages/cli/test/postgres.test.ts',
  'e2e/postgres.test.ts',
  'e2e/cluster*.test.ts',
  'e2e/mixed-versions.test.ts',
  'e2e/top.test.ts',
];
const leftOut = process.env.SERVICE_TESTS === 'apart' ? withServices : [];

/** Those that take longest begin first, or one of them would be the last to run, alone. */
const slowest = [
  'freeze',
  'chaos',
  'sdk-examples',
  'bootstrap',
  'hooks-matrix',
  'leaks',
  'titles',
  'webhooks',
  'tenants',
  'generations',
  'config-dirs',
  'wire-contract',
  'deletion',
  'choke-point',
  'hostile-lines',
  'storage',
  'orphans',
  'testing',
  'sessions',
  'init',
  'lifetime',
];

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = slowest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return place < 0 ? slowest.length : place;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  // What the bundler puts in their place in the program.
  define: { __FAILPOINTS__: 'false', __VERSION__: JSON.stringify('0.0.0-test') },
  resolve: {
    alias: {
      '@groundcrew/sdk/browser': fileURLToPath(new URL('./packages/sdk/src/browser.ts', import.meta.url)),
      ...Object.fromEntries(names.map((name) => [`@groundcrew/${name}`, source(name)])),
    },
  },
  test: {
    pool: 'forks',
    // What is compiled is kept by the content of its file: to compile it anew was half of the work of a run of one file.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/groundcrew/modules' },
    // One more than CI has cores: many tests wait for processes they have started.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    testTimeout: 20_000,
    // The first hook after a change builds the program.
    hookTimeout: 60_000,
    setupFiles: ['./scripts/fixed-seed.ts'],
    projects: [
      // No module has a state of its own, so files share what they import: to load it for each was a fifth of all time.
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'e2e/**/*.test.ts'],
          exclude: [seesItsOwnImports, ...leftOut],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: [seesItsOwnImports] } },
      // By `npm run test:browser`, where there is a browser.
      ...(process.env.BROWSER_TESTS
        ? [{ extends: true as const, test: { name: 'browser', include: ['browser/*.test.ts'] } }]
        : []),
    ],
  },
});
