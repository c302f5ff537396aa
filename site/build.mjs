/** Builds the site of the documentation: the pages of `docs/`, the README as its front page, and the API from the types. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, extname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const site = dirname(fileURLToPath(import.meta.url));
const repository = join(site, '..');
const pages = join(site, 'pages');
const source = 'https://github.com/groundcrew/groundcrew/blob/main';

rmSync(pages, { recursive: true, force: true });
writeApi('sdk');
writeApi('testing');
for (const path of filesIn(join(repository, 'docs'))) {
  const name = posix.join('docs', relative(join(repository, 'docs'), path));
  if (extname(path) === '.md') writePage(name, name.replace(/^docs\//, ''));
  else cpSync(path, target(name.replace(/^docs\//, '')));
}
writePage('README.md', 'index.md');
writePage('SECURITY.md', 'reporting.md');
writePage('CONTRIBUTING.md', 'contributing.md');
writePage('CHANGELOG.md', 'changelog.md');
execFileSync(bin('vitepress'), ['build', '.'], { cwd: site, stdio: 'inherit' });

/** The API of a published package, from the types that it ships. */
function writeApi(name) {
  const entry = join(repository, 'packages', name, 'dist/esm/index.d.ts');
  if (!existsSync(entry))
    throw new Error(`Run npm run build first: ${relative(repository, entry)} is missing`);
  const options = [
    ['--plugin', 'typedoc-plugin-markdown'],
    ['--entryPoints', entry],
    ['--tsconfig', join(site, 'tsconfig.json')],
    ['--out', join(pages, 'api', name)],
    ['--name', `@groundcrew/${name}`],
    ['--readme', 'none'],
    ['--entryFileName', 'index'],
    ['--disableSources', 'true'],
    ['--hidePageHeader', 'true'],
    ['--excludeInternal', 'true'],
    ['--skipErrorChecking', 'true'],
    ['--logLevel', 'Error'],
  ];
  execFileSync(bin('typedoc'), options.flat(), { cwd: site, stdio: 'inherit' });
}

/** A page of the repository as a page of the site: links to other pages stay, links to files lead to the repository. */
function writePage(name, place) {
  const text = readFileSync(join(repository, name), 'utf8')
    .replace(/^<!--.*?-->\n?/gms, '')
    .replace(/\]\(([^()\s]+)\)/g, (_, link) => `](${linkFrom(name, place, link)})`);
  writeFileSync(target(place), text);
}

function linkFrom(name, place, link) {
  if (/^([a-z]+:|#)/i.test(link)) return link;
  const [file, heading] = link.split('#');
  const path = posix.normalize(posix.join(posix.dirname(name), file));
  const own = placeOf(path);
  if (own === undefined) return `${source}/${path}`;
  const to = posix.relative(posix.dirname(place), own);
  return `${to.startsWith('.') ? to : `./${to}`}${heading === undefined ? '' : `#${heading}`}`;
}

/** Where a file of the repository stands on the site; undefined for those that are not on it. */
function placeOf(path) {
  const named = {
    'README.md': 'index.md',
    'SECURITY.md': 'reporting.md',
    'CONTRIBUTING.md': 'contributing.md',
    'CHANGELOG.md': 'changelog.md',
  };
  if (named[path] !== undefined) return named[path];
  const isFile =
    path.startsWith('docs/') &&
    existsSync(join(repository, path)) &&
    statSync(join(repository, path)).isFile();
  return isFile ? path.slice('docs/'.length) : undefined;
}

function target(place) {
  const path = join(pages, place);
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !basename(entry.name).startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name));
}

function bin(name) {
  return join(site, 'node_modules', '.bin', name);
}
