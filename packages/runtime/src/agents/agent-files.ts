import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { readPlainFile } from '@groundcrew/store';
import type { AgentDefinition } from '../log/agent-task.js';
import { readFrontmatter } from '../workspace/frontmatter.js';
import { capsOf, describedAgent, firstOfEach } from './agent-definitions.js';

/** A directory that may have agents in it. */
export interface AgentRoot {
  readonly path: string;
  readonly source: 'project' | 'user';
  readonly projectPath?: string;
}

/** What was found, and what is wrong with it: one sentence each, with file and line. */
export interface FoundAgents {
  readonly agents: readonly AgentDefinition[];
  readonly problems: readonly string[];
}

const longestFile = 256 * 1024;
const mostFiles = 500;

/** Directories in the order of precedence: the project's, then the user's. */
export function agentRoots(projects: readonly string[], homes: readonly string[]): readonly AgentRoot[] {
  const ofProjects = projects.flatMap((projectPath) =>
    ['.groundcrew/agents', '.github/agents'].map((folder) => ({
      path: join(projectPath, folder),
      source: 'project' as const,
      projectPath,
    })),
  );
  return [...ofProjects, ...homes.map((home) => ({ path: join(home, 'agents'), source: 'user' as const }))];
}

/** Agents that are described in files; read again when a file has changed. */
export class AgentFiles {
  private stamp = '';
  private found: FoundAgents = { agents: [], problems: [] };

  /** What the directories hold now. Cheap when nothing has changed. */
  async read(roots: readonly AgentRoot[]): Promise<FoundAgents> {
    const looked = roots.map((root) => ({ ...filesIn(root), source: root.source }));
    const files = looked.flatMap(({ paths, source }) => paths.map((path) => ({ path, source })));
    const left = looked.flatMap(({ problems }) => problems);
    const stamp = [...files.map(({ path }) => `${path} ${stampOf(path)}`), ...left].join('\n');
    if (stamp === this.stamp) return this.found;
    const read = await Promise.all(files.map(readAgent));
    this.stamp = stamp;
    this.found = {
      agents: firstOfEach(read.flatMap(({ agents }) => agents)),
      problems: [...left, ...read.flatMap(({ problems }) => problems)],
    };
    return this.found;
  }

  /** Reads all of it again at the next time. */
  expire(): void {
    this.stamp = '\0';
  }
}

interface AgentFile {
  readonly path: string;
  readonly source: AgentRoot['source'];
}

/** The files that may describe agents, and what is left out. A project's links count where they stay in it: others would show the model what is not the project's. */
function filesIn({ path: directory, projectPath }: AgentRoot): {
  readonly paths: readonly string[];
  readonly problems: readonly string[];
} {
  try {
    const inside = projectPath === undefined ? undefined : `${realpathSync(projectPath)}${sep}`;
    const all = readdirSync(directory)
      .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
      .sort()
      .map((name) => join(directory, name))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false);
    const isOutside = (path: string) => inside !== undefined && !realpathSync(path).startsWith(inside);
    const paths = all.slice(0, mostFiles).filter((path) => !isOutside(path));
    const links = all.slice(0, mostFiles).filter(isOutside);
    const problems = [
      ...links.map((path) => `${path}:1: the file is a link to a place outside of the project`),
      ...(all.length > mostFiles
        ? [`${directory}: only the first ${mostFiles} of ${all.length} files are read`]
        : []),
    ];
    return { paths, problems };
  } catch {
    // A directory that is not there, or may not be read, has no agents.
    return { paths: [], problems: [] };
  }
}

function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : '';
}

async function readAgent({ path, source }: AgentFile): Promise<FoundAgents> {
  let text = '';
  try {
    text = readPlainFile(path, 4 * longestFile);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return problem(path, 1, `the file cannot be read: ${reason}`);
  }
  if (text.length > longestFile) return problem(path, 1, `the file is longer than ${longestFile} characters`);
  if (text.includes('\0')) return problem(path, 1, 'the file is not a text file');
  const read = await readFrontmatter(text);
  if ('problem' in read) return problem(path, read.problem.line, read.problem.message);
  const { attributes, body, lineOf } = read;
  if (!read.isThere) return problem(path, 1, 'the frontmatter that describes the agent is missing');
  const named = { ...attributes, name: attributes.name ?? basename(path).replace(/(?:\.agent)?\.md$/, '') };
  const wrong = Object.entries(checks).find(([field, [isRight]]) => {
    const value = named[field as keyof typeof named] ?? undefined;
    return value !== undefined && !isRight(value);
  });
  if (wrong) return problem(path, lineOf(wrong[0]), `${wrong[0]} must be ${wrong[1][1]}`);
  if (body.trim() === '') return problem(path, 1, 'the file has no prompt below its frontmatter');
  const definition = { ...definitionOf(named, body.trim()), source, path };
  const ineffective = Object.keys(attributes).filter(
    (field) => !Object.hasOwn(checks, field) && !remarks.has(field),
  );
  const problems = ineffective.slice(0, mostRemarks).map((field) => {
    const isServers = field === 'mcp-servers' || field === 'mcpServers';
    const words = isServers ? 'of agent files are not started: name them in mcp.json' : 'has no effect here';
    return `${path}:${lineOf(field)}: ${field} ${words}`;
  });
  const left = ineffective.length - problems.length;
  if (left > 0) problems.push(`${path}: ${left} more fields have no effect here`);
  const isUndescribed = definition.description === '' && definition.infer;
  const undescribed = `${path}:${lineOf('description')}: description is missing: other agents could not know when to ask this one`;
  return { agents: [definition], problems: [...(isUndescribed ? [undescribed] : []), ...problems] };
}

/** Of one file: a project may have hundreds of files with thousands of fields. */
const mostRemarks = 20;

function definitionOf(attributes: Readonly<Record<string, unknown>>, prompt: string): AgentDefinition {
  const caps = capsOf({
    maxTokens: attributes['max-tokens'],
    maxCalls: attributes['max-calls'],
    maxCost: attributes['max-cost'],
    maxSeconds: attributes['max-seconds'],
  });
  const { name, description, model, infer } = attributes;
  const definition = describedAgent({
    ...{ name, description, model, infer, prompt },
    displayName: attributes['display-name'] ?? attributes.displayName,
    tools: listOf(attributes.tools) ?? null,
    skills: listOf(attributes.skills),
    reasoningEffort: attributes['reasoning-effort'] ?? attributes.reasoningEffort,
  } as Parameters<typeof describedAgent>[0]);
  return { ...definition, ...(caps && { caps }) };
}

/** Names in a list, or one after the other in a text. */
function listOf(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.match(/[^\s,]+/g) ?? [];
  return Array.isArray(value) ? value.map(String) : undefined;
}

type Check = readonly [(value: unknown) => boolean, string];

const text: Check = [(value) => typeof value === 'string', 'text'];
const names: Check = [
  (value) =>
    typeof value === 'string' || (Array.isArray(value) && value.every((each) => typeof each === 'string')),
  'a list of names',
];
const amount: Check = [
  (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  'a number, 0 or more',
];

/** The fields that there are, and what they have to be. */
const checks: Readonly<Record<string, Check>> = {
  name: [
    (value) => typeof value === 'string' && /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u.test(value),
    'up to 64 letters, digits, blanks, - _ or .',
  ],
  'display-name': text,
  displayName: text,
  description: text,
  tools: names,
  skills: names,
  model: text,
  'reasoning-effort': text,
  reasoningEffort: text,
  infer: [(value) => typeof value === 'boolean', 'true or false'],
  'max-tokens': amount,
  'max-calls': amount,
  'max-cost': amount,
  'max-seconds': amount,
};

/** Fields that say something of the file, and are to have no effect. */
const remarks: ReadonlySet<string> = new Set(['metadata', 'license', 'version', 'author']);

function problem(path: string, line: number, message: string): FoundAgents {
  return { agents: [], problems: [`${path}:${line}: ${message}`] };
}
