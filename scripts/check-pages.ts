/** Fails on links of our pages that lead nowhere, on programs in them that could not run, and on what users can use and no page names: part of `npm run check:docs`. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { builtinToolNames } from '@groundcrew/protocol';
import { transformSync } from 'esbuild';

interface Page {
  readonly path: string;
  readonly text: string;
}

const pages: readonly Page[] = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((path) => existsSync(path))
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

/** The program without a command, and what is given by a flag. */
const ofNoName: ReadonlySet<string> = new Set(['chat', 'run', 'acp']);
/** Set by one program of ours for another, or by tests. */
const betweenPrograms: ReadonlySet<string> = new Set([
  'GROUNDCREW_COMMAND',
  'GROUNDCREW_END_WITH_STDIN',
  'GROUNDCREW_FAILPOINT',
]);

const problems = [...pages.flatMap((page) => [...badLinks(page), ...badPrograms(page)]), ...undocumented()];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else
  console.log(
    `${pages.length} pages: every link leads somewhere, every program can be read, nothing is left out`,
  );

/** Commands, variables and built-in tools that users can use, and no page of theirs names. */
function undocumented(): readonly string[] {
  const textOf = (path: string) => pages.find((page) => page.path === path)?.text ?? '';
  const commandLine = readFileSync('packages/cli/src/commands/command-line.ts', 'utf8');
  const commands = [...commandLine.matchAll(/^ {2}(\w+): async/gm)].flatMap(([, name = '']) =>
    ofNoName.has(name) ? [] : [`groundcrew ${name}`],
  );
  const variables = [...new Set(ownSources().match(/\bGROUNDCREW_[A-Z0-9_]+/g))].filter(
    (name) => !betweenPrograms.has(name),
  );
  const isMissing = (path: string, word: string) => !textOf(path).includes(word);
  return [
    ...[...commands, ...variables].filter((word) => isMissing('docs/cli.md', word)).map(notOn('docs/cli.md')),
    ...builtinToolNames
      .filter((name) => isMissing('docs/tools.md', `\`${name}\``))
      .map(notOn('docs/tools.md')),
  ];
}

function ownSources(): string {
  const files = execFileSync('git', ['ls-files', 'packages/*/src/*.ts'], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const shipped = files.filter((path) => !/\.test\.ts$|^packages\/testkit\//.test(path) && existsSync(path));
  return shipped.map((path) => readFileSync(path, 'utf8')).join('\n');
}

function notOn(path: string): (word: string) => string {
  return (word) => `${path}: ${word} is not named there`;
}

/** Links to files that are not there, and to headings that their page does not have. */
function badLinks({ path, text }: Page): readonly string[] {
  const prose = text.replace(/^ *```.*?^ *```/gms, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/i.test(target)) return [];
    const [file = '', heading] = target.split('#');
    const place = file === '' ? path : normalize(join(dirname(path), file));
    if (!existsSync(place)) return [`${path}: ${target} is not there`];
    if (heading === undefined || !place.endsWith('.md')) return [];
    return headingsOf(place).has(heading) ? [] : [`${path}: ${target}: there is no such heading`];
  });
}

function headingsOf(path: string): ReadonlySet<string> {
  const text = readFileSync(path, 'utf8').replace(/^ *```.*?^ *```/gms, '');
  return new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugOf(heading)));
}

/** The name that GitHub gives a heading. */
function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

/** Programs that cannot be parsed, and names they import that our packages do not have. */
function badPrograms({ path, text }: Page): readonly string[] {
  const blocks = [...text.matchAll(/^ *```(ts|tsx|js|json)\b[^\n]*\n(.*?)^ *```/gms)];
  return blocks.flatMap(([, language = '', code = '']) => {
    const line = text.slice(0, text.indexOf(code)).split('\n').length;
    const fault =
      language === 'json' ? faultOfJson(code) : (faultOfCode(language, code) ?? missingName(code));
    return fault === undefined ? [] : [`${path}:${line}: ${fault}`];
  });
}

function faultOfJson(code: string): string | undefined {
  try {
    JSON.parse(code);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A program, or a part of an object. */
function faultOfCode(language: string, code: string): string | undefined {
  const loader = language === 'js' ? 'js' : 'tsx';
  const faults = [code, `({${code}})`, `(${code})`].map((text) => {
    try {
      transformSync(text, { loader, format: 'esm', logLevel: 'silent' });
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message.split('\n')[1] : String(error);
    }
  });
  return faults.includes(undefined) ? undefined : faults[0];
}

function missingName(code: string): string | undefined {
  for (const [, names = '', name = ''] of code.matchAll(/import \{([^}]*)\} from '@groundcrew\/([\w-]+)'/g)) {
    const index = readFileSync(join('packages', name, 'src/index.ts'), 'utf8');
    const wanted = names.split(',').map((each) => each.replace(/\btype\b|\bas\b.*/g, '').trim());
    const missing = wanted.find((each) => each !== '' && !new RegExp(`\\b${each}\\b`).test(index));
    if (missing !== undefined) return `@groundcrew/${name} has no ${missing}`;
  }
  return undefined;
}
