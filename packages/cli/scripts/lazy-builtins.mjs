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
    build.onLoad({ filter, namespace: 'lazy-builtin' }, async ({ path }) => ({
      contents: lazyModule(path, Object.keys(await import(path))),
    }));
  },
};

// Names and not a Proxy: an import of a CommonJS module copies its names.
function lazyModule(path, names) {
  const getters = names
    .filter((name) => name !== 'default')
    .map((name) => `get ${name}() { return load().${name}; }`);
  return `
    let loaded;
    const load = () => (loaded ??= require(${JSON.stringify(path)}));
    module.exports = { ${getters.join(', ')} };
  `;
}
