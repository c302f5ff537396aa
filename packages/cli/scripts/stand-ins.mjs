/**
 * What stands in the bundle of the terminal in the place of a package: its developer tools are not installed, and
 * whether there is a terminal the program has found out itself, in CI too.
 */
const contents = {
  'react-devtools-core': 'export default undefined;',
  'is-in-ci': 'export default false;',
};

const filter = new RegExp(`^(${Object.keys(contents).join('|')})$`);

/** Resolves these packages to what stands in for them. */
export const standIns = {
  name: 'stand-ins',
  setup(build) {
    build.onResolve({ filter }, ({ path }) => ({ path, namespace: 'stand-in' }));
    build.onLoad({ filter, namespace: 'stand-in' }, ({ path }) => ({ contents: contents[path] }));
  },
};
