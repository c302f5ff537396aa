import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { AgentDefinition } from '../log/agent-task.js';
import { readFrontmatter } from '../workspace/frontmatter.js';
import { readPlainFile } from '../workspace/plain-file.js';
import { capsOf, describedAgent, firstOfEach } from './definition.js';

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
    const files = roots.flatMap((root) => filesIn(root.path).map((path) => ({ path, source: root.source })));
    const stamp = files.map(({ path }) => `${path} ${stampOf(path)}`).join('\n');
    if (stamp === this.stamp) return this.found;
    const read = await Promise.all(files.map(readAgent));
    this.stamp = stamp;
    this.found = {
      agents: firstOfEach(read.flatMap(({ agents }) => agents)),
      problems: read.flatMap(({ problems }) => problems),
    };
    return this.found;
  }

  /** Reads all of it again at the next time. */
  expire(): void {
    this.stamp = '\0';
  }
}

function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
      .sort()
      .slice(0, mostFiles)
      .map((name) => join(directory, name));
  } catch {
    // A directory that is not there, or may not be read, has no agents.
    return [];
  }
}

function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : '';
}

/** What cannot be read says why, and is no agent. */
function textOf(path: string): string {
  try {
    return readPlainFile(path, 4 * longestFile);
  } catch (error) {
    return String(error);
  }
}

async function readAgent({
  path,
  source,
}: {
  readonly path: string;
  readonly source: 'project' | 'user';
}): Promise<FoundAgents> {
  const text = textOf(path);
  if (text.length > longestFile) return problem(path, 1, `the file is longer than ${longestFile} characters`);
  const read = await readFrontmatter(text);
  if ('problem' in read) return problem(path, read.problem.line, read.problem.message);
  const { attributes, body, lineOf } = read;
  const name = attributes.name ?? basename(path).replace(/(?:\.agent)?\.md$/, '');
  if (typeof name !== 'string' || !/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u.test(name))
    return problem(path, lineOf('name'), 'name must be up to 64 letters, digits, blanks, - _ or .');
  if (body.trim() === '') return problem(path, 1, 'the file has no prompt below its frontmatter');
  const { tools, infer } = attributes;
  const isList = tools === undefined || tools === null || typeof tools === 'string' || Array.isArray(tools);
  if (!isList) return problem(path, lineOf('tools'), 'tools must be names of tools');
  if (infer !== undefined && typeof infer !== 'boolean')
    return problem(path, lineOf('infer'), 'infer must be true or false');
  const wrong = capFields.find((field) => {
    const value = attributes[field];
    return value !== undefined && !(typeof value === 'number' && value >= 0);
  });
  if (wrong) return problem(path, lineOf(wrong), `${wrong} must be a number, 0 or more`);
  const caps = capsOf({
    maxTokens: attributes['max-tokens'],
    maxCalls: attributes['max-calls'],
    maxCost: attributes['max-cost'],
    maxSeconds: attributes['max-seconds'],
  });
  const definition = describedAgent({
    ...(attributes as Parameters<typeof describedAgent>[0]),
    name,
    displayName: attributes['display-name'] ?? attributes.displayName,
    tools: typeof tools === 'string' ? (tools.match(/[^\s,]+/g) ?? []) : (tools ?? null),
    reasoningEffort: attributes['reasoning-effort'] ?? attributes.reasoningEffort,
    mcpServers: null,
    prompt: body.trim(),
  } as Parameters<typeof describedAgent>[0]);
  const problems =
    'mcp-servers' in attributes
      ? [
          `${path}:${lineOf('mcp-servers')}: mcp-servers of agent files are not started: name them in mcp.json`,
        ]
      : [];
  return { agents: [{ ...definition, source, path, ...(caps && { caps }) }], problems };
}

const capFields = ['max-tokens', 'max-calls', 'max-cost', 'max-seconds'] as const;

function problem(path: string, line: number, message: string): FoundAgents {
  return { agents: [], problems: [`${path}:${line}: ${message}`] };
}
