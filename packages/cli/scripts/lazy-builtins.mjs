/** Modules of Node's that a server may never need, and that take a millisecond or two to load. */
const heavy = [
  'child_process',
  'dns/promises',
  'fs/promises',
  'http',
  'https',
  'timers/promises',
  'tls',
  'worker_threads',
];

const filter = new RegExp(`^node:(${heavy.join('|')})$`);

/** Loads these when something of them is first used; sources import them like any other module. */
export const lazyBuiltins = {
  name: 'lazy-builtins',
  setup(build) {
    build.onResolve({ filter }, ({ path, namespace }) =>
      namespace === 'lazy-builtin' ? { path, external: true } : { path, namespace: 'lazy-builtin' },
    );
    build.onLoad({ filter, namespace: 'lazy-builtin' }, ({ path }) => ({
      contents: `
        let loaded;
        module.exports = new Proxy({}, { get: (_, name) => (loaded ??= require(${JSON.stringify(path)}))[name] });
      `,
    }));
  },
};
