/** Fails on links of our pages that lead nowhere, and on programs in them that could not run: part of `npm run check:docs`. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
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

const problems = pages.flatMap((page) => [...badLinks(page), ...badPrograms(page)]);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`${pages.length} pages: every link leads somewhere, every program can be read`);

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
