import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { Part } from './parts.js';

/** One promise broken on purpose. */
export interface Mutation {
  readonly name: string;
  /** The source file that is changed, from the root of the repository; the line below its mark `mutation: <name>` goes. */
  readonly file: string;
  /** What stands there instead. */
  readonly to: string;
  /** The part of the chaos that must find it; any, unless given. */
  readonly part?: Part;
}

const runtime = 'packages/runtime/src';
const store = 'packages/store-sqlite/src';

/** Faults that chaos must find; each is one line of the source, found by its mark. */
export const mutations: readonly Mutation[] = [
  {
    name: 'drop the sync',
    file: `${store}/store-file.ts`,
    to: "const synced = 'PRAGMA synchronous = OFF; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1';",
    part: 'power',
  },
  {
    name: 'skip the epoch check',
    file: `${store}/sessions.ts`,
    to: '',
    part: 'rivals',
  },
  {
    name: 'accept a second answer',
    file: `${runtime}/questions/questions.ts`,
    to: '',
  },
  {
    name: 'forget the intent record',
    file: `${runtime}/gate/gate.ts`,
    to: '',
  },
  {
    name: 'publish before commit',
    file: `${runtime}/log/session-log.ts`,
    to: 'this.committed(group); this.options.store.append(request).then(',
  },
  {
    name: 'run what a hook denies',
    file: `${runtime}/gate/call-hooks.ts`,
    to: 'if (review.decision === undefined && signal.aborted)',
    part: 'guard',
  },
  {
    name: 'forget a guard that left',
    file: `${runtime}/hooks/guard-points.ts`,
    to: 'return false;',
    part: 'guard',
  },
];

const repository = fileURLToPath(new URL('..', import.meta.url));

/** Builds the program with one fault in it, or none; throws unless its mark is there exactly once. */
export async function buildMutant(mutation: Mutation | undefined): Promise<string> {
  const name = mutation?.name.replaceAll(' ', '-') ?? 'no-fault';
  const outfile = join(repository, 'packages/cli/dist-failpoints/mutants', `${name}.cjs`);
  mkdirSync(dirname(outfile), { recursive: true });
  await build({
    absWorkingDir: repository,
    entryPoints: ['packages/cli/src/main.ts'],
    outfile,
    bundle: true,
    external: ['@groundcrew/sqlite-node20', 'undici'],
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    tsconfig: 'tsconfig.json',
    supported: { 'dynamic-import': false },
    define: {
      __FAILPOINTS__: 'true',
      __VERSION__: JSON.stringify(name),
      'import.meta.dirname': '__dirname',
      'import.meta.filename': '__filename',
    },
    logLevel: 'silent',
    plugins: mutation ? [faultIn(mutation)] : [],
  });
  return outfile;
}

function faultIn({ name, file, to }: Mutation): Plugin {
  const path = join(repository, file);
  return {
    name,
    setup: (building) => {
      const source = readFileSync(path, 'utf8');
      const mark = new RegExp(`^ *(?://|--) mutation: ${name}\\n.*$`, 'gm');
      const places = source.match(mark)?.length ?? 0;
      if (places !== 1)
        throw new Error(
          `The mark of the mutation '${name}' stands ${places} times in ${file}; it must stand once.`,
        );
      building.onLoad({ filter: /\.ts$/ }, (loading) =>
        loading.path === path ? { contents: source.replace(mark, () => to), loader: 'ts' } : undefined,
      );
    },
  };
}
