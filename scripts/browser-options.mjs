import { join } from 'node:path';

const source = join(import.meta.dirname, '..', 'packages', 'sdk', 'src');

/** What stands in a browser for modules of Node, and for those of ours that need them or are large. */
const standIns = {
  name: 'browser-stand-ins',
  setup(build) {
    build.onResolve({ filter: /^node:(?:crypto|events|timers\/promises)$/ }, ({ importer }) =>
      /[\\/](?:tcp|spawn)\.ts$/.test(importer)
        ? undefined
        : { path: join(source, 'browser', 'stand-ins.ts'), sideEffects: false },
    );
    // Only what no page uses imports these: it is left out, and so are they.
    build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true, sideEffects: false }));
    build.onResolve(
      { filter: /^\.\/(?:peer|zod-schema|callback-params|model-requests)\.js$/ },
      ({ path, resolveDir }) =>
        resolveDir === source
          ? { path: join(source, 'browser', path.replace(/\.js$/, '.ts')), sideEffects: false }
          : undefined,
    );
    build.onResolve({ filter: /^\.\/parse-slowly\.js$/ }, () => ({
      path: join(source, 'browser', 'parse-slowly.ts'),
      sideEffects: false,
    }));
  },
};

/** How the SDK is bundled for browsers. */
export const browserOptions = {
  entryPoints: ['packages/sdk/src/browser.ts'],
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  tsconfig: 'tsconfig.json',
  minify: true,
  legalComments: 'none',
  define: { 'process.emitWarning': 'console.warn' },
  inject: [join(source, 'browser', 'buffer.ts')],
  plugins: [standIns],
};
