import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const names = ['protocol', 'rpc', 'models', 'runtime', 'server', 'sdk', 'testing', 'testkit', 'cli'];
const source = (name: string) => fileURLToPath(new URL(`./packages/${name}/src/index.ts`, import.meta.url));

export default defineConfig({
  // What the bundler puts in their place in the program.
  define: { __FAILPOINTS__: 'false', __VERSION__: JSON.stringify('0.0.0-test') },
  resolve: { alias: Object.fromEntries(names.map((name) => [`@groundcrew/${name}`, source(name)])) },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'e2e/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
  },
});
