import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventData } from '@groundcrew/protocol';
import { defineTool } from '../tools/define-tool.js';
import { optional, text } from '../tools/fields.js';
import { type Tool, type ToolContext, ToolFailure, type ToolResult } from '../tools/tool.js';
import { readInside, readSkillBody, type Skill } from './skill.js';
import type { PlacedSkill } from './skill-library.js';
import { availableSkills, foundSkills } from './skill-list.js';

/** Lets the model take up skills; made anew when they change, for its notes name them. */
export function skillTool(skills: readonly PlacedSkill[]): Tool {
  const tool = defineTool({
    name: 'skill',
    description:
      'Loads a skill: instructions for one kind of task. Call it before you begin such a task. `file` reads a further file of the skill, `search` looks for skills by words.',
    fields: {
      skill: optional(text('The name of the skill.')),
      file: optional(text("A file of the skill's folder to read, by its path inside the folder.")),
      search: optional(text('Words to look for in the names and descriptions of all skills.')),
    },
    isRepeatable: true,
    changesNothing: true,
    intention: ({ skill, search }) => skill ?? search,
    prepare: ({ skill: name, file, search }, context) => {
      if (search !== undefined) return run(async () => success(foundSkills(skills, search)));
      const skill = skills.find((each) => each.name === name);
      if (!skill) throw unknownSkill(name, skills);
      if (file !== undefined) return run(() => readFileOf(skill, file, context));
      return run(() => load(skill, context));
    },
  });
  return { ...tool, notes: availableSkills(skills) };
}

/** What clients learn of a skill that was taken up. */
export function invokedData(
  { name, path, description, source, allowedTools }: PlacedSkill,
  content: string,
  trigger: EventData<'skill.invoked'>['trigger'],
): EventData<'skill.invoked'> {
  return {
    name,
    path,
    content,
    description,
    source,
    trigger,
    ...(allowedTools && { allowedTools: [...allowedTools] }),
  };
}

function run(work: () => Promise<ToolResult>) {
  return { type: 'run', run: work } as const;
}

async function load(skill: PlacedSkill, context: ToolContext): Promise<ToolResult> {
  await checkPlace(skill.path, context);
  const content = await readSkillBody(skill).catch((error: unknown) => {
    throw new ToolFailure(`Skill "${skill.name}" could not be read: ${reasonOf(error)}`);
  });
  context.notify({ type: 'skill.invoked', data: invokedData(skill, content, 'agent-invoked') });
  return success(`Skill "${skill.name}" loaded successfully. Follow the instructions in the skill context.`);
}

async function readFileOf(skill: Skill, file: string, context: ToolContext): Promise<ToolResult> {
  await checkPlace(join(skill.directory, file), context);
  return readInside(skill.directory, file).then(success, (error: unknown) => {
    throw new ToolFailure(`Skill "${skill.name}": ${reasonOf(error)}`);
  });
}

/** Rules that forbid a place forbid it to skills, too. */
async function checkPlace(path: string, context: ToolContext): Promise<void> {
  context.checkPlace?.({ path, real: await realpath(path).catch(() => path) });
}

function success(content: string): ToolResult {
  return { type: 'success', text: content };
}

function unknownSkill(name: string | undefined, skills: readonly Skill[]): ToolFailure {
  if (name === undefined) return new ToolFailure('Name a skill, or words to search for.');
  const names = skills.slice(0, 50).map((skill) => skill.name);
  const more = skills.length > names.length ? ` and ${skills.length - names.length} more` : '';
  return new ToolFailure(`Skill "${name}" not found. Available skills: ${names.join(', ')}${more}`);
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file';
  return error instanceof Error ? error.message : String(error);
}
