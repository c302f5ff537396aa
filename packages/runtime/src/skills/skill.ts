import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isObject } from '@groundcrew/protocol';
import { type Frontmatter, readFrontmatter } from '../workspace/frontmatter.js';

/** Where a skill was found, in the words of the protocol. */
export type SkillSource = 'project' | 'inherited' | 'personal-copilot' | 'custom';

/** A directory that may have skills in it. */
export interface SkillRoot {
  readonly path: string;
  readonly source: SkillSource;
  readonly projectPath?: string;
}

/** What is known of a skill before it is used; its text stays on the disk until then. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  /** The folder that all its files are in. */
  readonly directory: string;
  /** Its SKILL.md. */
  readonly path: string;
  /** Users may start it as a command. */
  readonly userInvocable: boolean;
  /** The model may choose it by itself. */
  readonly modelInvocable: boolean;
  readonly argumentHint?: string;
  /** Tools that the skill was written for; permissions do not go by it. */
  readonly allowedTools?: readonly string[];
  readonly license?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** What a folder has: a skill or nothing, and what is wrong with it. */
export interface FoundSkill {
  readonly skill?: Skill;
  /** One sentence each, with file and line. */
  readonly problems: readonly string[];
}

/** The file that makes a folder a skill. */
export const skillFile = 'SKILL.md';

/** A longer text is not a skill that a model could follow. */
const longestFile = 256 * 1024;
const longestName = 64;
const longestDescription = 1024;

/** Reads what SKILL.md of a folder says of the skill. Links may not lead out of the folder. */
export async function readSkill(directory: string): Promise<FoundSkill> {
  const path = join(directory, skillFile);
  const source = await readInside(directory, skillFile).catch((error: unknown) => unreadable(error));
  if (source === undefined) return { problems: [] };
  if (typeof source !== 'string') return { problems: [`${path}:1: ${source.reason}`] };
  const read = await readFrontmatter(source);
  if ('problem' in read) return { problems: [`${path}:${read.problem.line}: ${read.problem.message}`] };
  return describe(read, { directory, path });
}

/** The text of a skill without its settings. Throws when it cannot be read. */
export async function readSkillBody({ directory }: Skill): Promise<string> {
  const read = await readFrontmatter(await readInside(directory, skillFile));
  if ('problem' in read) throw new Error(`line ${read.problem.line}: ${read.problem.message}`);
  return read.body.trim();
}

/** A file of a folder, as text. Throws when it leads out of the folder, is too long or is no text. */
export async function readInside(directory: string, file: string): Promise<string> {
  const [real, base] = await Promise.all([realpath(join(directory, file)), realpath(directory)]);
  if (!real.startsWith(`${base}/`) && !real.startsWith(`${base}\\`))
    throw new Error(`${file} is not inside the folder of the skill`);
  const found = await stat(real);
  if (!found.isFile()) throw new Error(`${file} is no plain file`);
  if (found.size > longestFile) throw new Error(`${file} is longer than ${longestFile} bytes`);
  const text = await readFile(real, 'utf8');
  if (text.includes('\0')) throw new Error(`${file} is not a text file`);
  return text;
}

function unreadable(error: unknown): { readonly reason: string } | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
  return { reason: error instanceof Error ? error.message : String(error) };
}

function describe(
  { attributes, lineOf }: Frontmatter,
  place: { readonly directory: string; readonly path: string },
): FoundSkill {
  const problems: string[] = [];
  const complain = (field: string, message: string) =>
    void problems.push(`${place.path}:${lineOf(field)}: ${message}`);
  const folder = basename(place.directory);
  const name = attributes.name ?? folder;
  if (typeof name !== 'string' || !isName(name)) {
    complain('name', `name must be up to ${longestName} letters, digits, - _ . or :`);
    return { problems };
  }
  const { description } = attributes;
  if (typeof description !== 'string' || description.trim() === '') {
    complain('description', 'description is missing: the model could not know when to use the skill');
    return { problems };
  }
  if (description.length > longestDescription)
    complain('description', `description is cut after ${longestDescription} characters`);
  if (name !== folder) complain('name', `the skill is named ${name}, and its folder ${folder}`);
  const skill: Skill = {
    ...place,
    name,
    description: oneLine(description).slice(0, longestDescription),
    userInvocable: readFlag(attributes['user-invocable'], {
      otherwise: true,
      complain,
      field: 'user-invocable',
    }),
    modelInvocable: !readFlag(attributes['disable-model-invocation'], {
      otherwise: false,
      complain,
      field: 'disable-model-invocation',
    }),
    ...readTexts(attributes, complain),
  };
  return { skill, problems };
}

type Complain = (field: string, message: string) => void;

function readTexts(
  attributes: Readonly<Record<string, unknown>>,
  complain: Complain,
): Pick<Skill, 'argumentHint' | 'allowedTools' | 'license' | 'metadata'> {
  const hint = attributes['argument-hint'];
  const { license, metadata } = attributes;
  const allowedTools = readTools(attributes['allowed-tools'], complain);
  if (metadata !== undefined && metadata !== null && !isObject(metadata))
    complain('metadata', 'metadata must be `name: value` lines');
  return {
    ...(typeof hint === 'string' && { argumentHint: oneLine(hint) }),
    ...(allowedTools && { allowedTools }),
    ...(typeof license === 'string' && { license }),
    ...(isObject(metadata) && {
      metadata: Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, String(value)])),
    }),
  };
}

/** A list, or one text with blanks or commas between the names. */
function readTools(given: unknown, complain: Complain): readonly string[] | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given === 'string') return given.match(/[^\s,()]+(?:\([^)]*\))?/g) ?? [];
  if (Array.isArray(given) && given.every((each) => typeof each === 'string')) return given;
  complain('allowed-tools', 'allowed-tools must be names of tools');
  return undefined;
}

function readFlag(
  given: unknown,
  {
    otherwise,
    complain,
    field,
  }: { readonly otherwise: boolean; readonly complain: Complain; readonly field: string },
): boolean {
  if (given === undefined || given === null) return otherwise;
  if (typeof given === 'boolean') return given;
  complain(field, `${field} must be true or false`);
  return otherwise;
}

function isName(name: string): boolean {
  return name.length <= longestName && /^[\p{L}\p{N}][\p{L}\p{N}._:-]*$/u.test(name);
}

/** Lists show it in one line, and nothing in it may look like the end of the list. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}
