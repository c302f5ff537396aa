/**
 * Libraries that most runs never ask for: each is a file of its own beside the programs, loaded when something of it is
 * first used. They know nothing of our code, so no part of ours is there twice.
 */
const libraries = {
  '@modelcontextprotocol/client': 'library-mcp-client',
  '@nats-io/transport-node': 'library-nats',
  diff: 'library-diff',
  pg: 'library-pg',
  unbash: 'library-unbash',
  ws: 'library-ws',
  yaml: 'library-yaml',
};

const filter = new RegExp(`^(${Object.keys(libraries).join('|')})$`);

/** What the files of the libraries are made of. */
export const libraryEntries = Object.entries(libraries).map(([name, out]) => ({ in: name, out }));

/** Sources import them like any other; a program that is built with this leaves them in their files. */
export const librariesApart = {
  name: 'libraries-apart',
  setup(build) {
    build.onResolve({ filter }, ({ path }) => ({ path: `./${libraries[path]}.cjs`, external: true }));
  },
};
