import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

/** One promise broken on purpose. */
export interface Mutation {
  readonly name: string;
  /** The source file that is changed, from the root of the repository. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const runtime = 'packages/runtime/src';
const store = 'packages/store-sqlite/src';

/** Faults that chaos must find; each is one change of the source text. */
export const mutations: readonly Mutation[] = [
  {
    name: 'drop the sync',
    file: `${store}/store-file.ts`,
    from: 'PRAGMA synchronous = FULL;',
    to: 'PRAGMA synchronous = OFF;',
  },
  {
    name: 'skip the epoch check',
    file: `${store}/sessions.ts`,
    from: 'WHERE id = ? AND epoch = ? AND seq = ? RETURNING number',
    to: 'WHERE id = ? AND ? > 0 AND seq = ? RETURNING number',
  },
  {
    name: 'accept a second answer',
    file: `${runtime}/session/questions.ts`,
    from: 'this.waiting.delete(requestId);\n    question.settle(answer);',
    to: 'question.settle(answer);',
  },
  {
    name: 'forget the intent record',
    file: `${runtime}/loop/tool-calls.ts`,
    from: "log.append({ note: 'call.intended', data: { toolCallId: call.toolCallId, attempt: 1 } });",
    to: '',
  },
  {
    name: 'tell before commit',
    file: `${runtime}/session/log.ts`,
    from: 'this.options.store.append(request).then(',
    to: 'this.committed(group); this.options.store.append(request).then(',
  },
];

const repository = fileURLToPath(new URL('..', import.meta.url));

/** Builds the program with one fault in it, or none; throws unless the text to change is there exactly once. */
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

function faultIn({ name, file, from, to }: Mutation): Plugin {
  const path = join(repository, file);
  return {
    name,
    setup: (building) => {
      const source = readFileSync(path, 'utf8');
      const places = source.split(from).length - 1;
      if (places !== 1)
        throw new Error(
          `The mutation '${name}' fits ${places} places of ${file}; it needs one. Write it anew.`,
        );
      building.onLoad({ filter: /\.ts$/ }, (loading) =>
        loading.path === path ? { contents: source.replace(from, to), loader: 'ts' } : undefined,
      );
    },
  };
}
