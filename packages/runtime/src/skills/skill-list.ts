import type { PlacedSkill } from './skill-library.js';

/** Characters that the list of skills may take in the prompt, whatever there is. */
const longestList = 8000;

/** Of a description, what a list shows. */
const longestDescription = 300;

/** How many skills a search shows. */
const mostFound = 20;

/** What the prompt says of the skills there are: as many as have room, and how to find the others. */
export function availableSkills(skills: readonly PlacedSkill[]): string {
  const offered = skills.filter(({ modelInvocable }) => modelInvocable);
  const lines: string[] = [];
  let size = 0;
  for (const skill of offered) {
    const line = listed(skill);
    if (size + line.length > longestList) break;
    size += line.length + 1;
    lines.push(line);
  }
  const left = offered.length - lines.length;
  const more =
    left > 0 ? `\n${left} more skills are not listed: look for them with \`search\` of the skill tool.` : '';
  return `Skills are instructions that fit one kind of task. When a request fits a skill, load it first and follow it.\n<available_skills>\n${lines.join('\n')}\n</available_skills>${more}`;
}

/** The skills whose name or description has the words, the best first. */
export function foundSkills(skills: readonly PlacedSkill[], search: string): string {
  const words = search.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const scored = skills
    .filter(({ modelInvocable }) => modelInvocable)
    .map((skill) => ({ skill, score: scoreOf(skill, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score);
  if (scored.length === 0) return 'No skill has these words in its name or description.';
  const lines = scored
    .slice(0, mostFound)
    .map(({ skill }) => `${skill.name}: ${shortened(skill.description)}`);
  const left = scored.length - lines.length;
  return left > 0 ? `${lines.join('\n')}\n${left} more: use other words.` : lines.join('\n');
}

/** A word in the name counts for more than one in the description. */
function scoreOf({ name, description }: PlacedSkill, words: readonly string[]): number {
  const lowerName = name.toLowerCase();
  const lowerDescription = description.toLowerCase();
  return words.reduce(
    (sum, word) => sum + (lowerName.includes(word) ? 3 : 0) + (lowerDescription.includes(word) ? 1 : 0),
    0,
  );
}

function listed({ name, description, source }: PlacedSkill): string {
  return `<skill><name>${escaped(name)}</name><description>${escaped(shortened(description))}</description><location>${source}</location></skill>`;
}

function shortened(text: string): string {
  return text.length > longestDescription ? `${text.slice(0, longestDescription)}…` : text;
}

/** A description that was written to end the list does not. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
