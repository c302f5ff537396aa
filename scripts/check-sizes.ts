import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const longestFile = 400;
const longestFunction = 60;
/** What a turn may touch. */
const widest: Readonly<Record<string, number>> = { AgentContext: 10 };
const roots = ['packages', 'e2e', 'chaos', 'compat', 'security', 'bench', 'scripts', 'examples'];
const sourceName = /\.(ts|tsx|js|mjs|cjs)$/;
const skippedFolders = new Set(['node_modules', 'dist', 'dist-failpoints', 'fixtures', 'coverage']);
/** A contract suite is a test that lives in the testkit. */
const testName = /(\.test|-contract)\.tsx?$/;

const files = roots.flatMap((root) => sourceFiles(root));
const findings = files.flatMap(oversized);
for (const finding of findings) console.log(finding);
console.log(`${files.length} source files, ${findings.length} too long`);
process.exitCode = findings.length > 0 ? 1 : 0;

function sourceFiles(root: string): readonly string[] {
  return readFolder(root).flatMap((entry) => {
    const path = join(root, entry.name);
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : sourceFiles(path);
    return sourceName.test(entry.name) && !testName.test(entry.name) ? [path] : [];
  });
}

function readFolder(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function oversized(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = text.trimEnd().split('\n').length;
  const fileFinding = lines > longestFile ? [`${path}: ${lines} lines, at most ${longestFile}`] : [];
  return [...fileFinding, ...wideInterfaces(source), ...longFunctions(source, source)];
}

function wideInterfaces(source: ts.SourceFile): readonly string[] {
  return source.statements.filter(ts.isInterfaceDeclaration).flatMap(({ name, members }) => {
    const most = Object.hasOwn(widest, name.text) ? (widest[name.text] ?? 0) : Number.POSITIVE_INFINITY;
    return members.length > most
      ? [`${source.fileName}: ${name.text} has ${members.length} members, at most ${most}`]
      : [];
  });
}

function longFunctions(node: ts.Node, source: ts.SourceFile): readonly string[] {
  const inside: string[] = [];
  ts.forEachChild(node, (child) => {
    inside.push(...longFunctions(child, source));
  });
  if (!ts.isFunctionLike(node) || !('body' in node)) return inside;
  const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
  const lines = source.getLineAndCharacterOfPosition(node.getEnd()).line - first + 1;
  if (lines <= longestFunction) return inside;
  const named = ts.isVariableDeclaration(node.parent) ? node.parent : node;
  const name = named.name?.getText(source) ?? 'a function';
  return [
    `${source.fileName}:${first + 1}: ${name} has ${lines} lines, at most ${longestFunction}`,
    ...inside,
  ];
}
