import { defineTool } from './define-tool.js';
import { number, optional, text } from './fields.js';
import type { Tool } from './tool.js';

/** Under this name the model finds tools whose definitions it has not seen. */
export const searchName = 'tool_search';

const mostFound = 10;
const longestNames = 12_000;

/** Finds deferred tools; those that it finds are offered from the next model call on. */
export function toolSearch(deferred: readonly Tool[], load: (names: readonly string[]) => void): Tool {
  return defineTool({
    name: searchName,
    description: `Finds tools that exist but are not listed in full. Search with a few words, or with the exact name of a tool; the tools that are found can be called from then on. Names of tools that can be found: ${namesOf(deferred)}`,
    isRepeatable: true,
    changesNothing: true,
    fields: {
      query: text('A few words about what the tool should do, or its exact name'),
      limit: optional(number('How many to find at most; 5 without it', { minimum: 1, maximum: mostFound })),
    },
    prepare: ({ query, limit = 5 }) => ({
      type: 'run',
      run: async () => {
        const found = searchTools(deferred, query).slice(0, limit);
        load(found.map(({ name }) => name));
        return { type: 'success', text: describeFound(found, query) };
      },
    }),
  });
}

function describeFound(found: readonly Tool[], query: string): string {
  if (found.length === 0) return `No tool matches "${query}". Try other words.`;
  const described = found.map(
    ({ name, description, inputSchema }) =>
      `${name}: ${description}\nParameters: ${JSON.stringify(inputSchema)}`,
  );
  return `${found.length} found; they can be called now.\n\n${described.join('\n\n')}`;
}

function namesOf(tools: readonly Tool[]): string {
  const names = tools.map(({ name }) => name).join(', ');
  return names.length > longestNames ? `${names.slice(0, longestNames)} … (${tools.length} in all)` : names;
}

/** The tools that fit these words, best first: a rare word counts more, and one of the name more than one of the rest. */
function searchTools(tools: readonly Tool[], query: string): readonly Tool[] {
  const exact = tools.find(({ name }) => name.toLowerCase() === query.trim().toLowerCase());
  const wanted = [...new Set(wordsOf(query))];
  const indexed = tools.map((tool) => ({ tool, name: wordsOf(tool.name), rest: restOf(tool) }));
  const rarity = new Map(
    wanted.map((word) => {
      const count = indexed.filter(({ name, rest }) => has(name, word) || has(rest, word)).length;
      return [word, Math.log(1 + tools.length / (1 + count))];
    }),
  );
  const scored = indexed.map(({ tool, name, rest }) => {
    const score = wanted.reduce((sum, word) => {
      const weight = rarity.get(word) ?? 0;
      return sum + (has(name, word) ? 3 * weight : 0) + (has(rest, word) ? weight : 0);
    }, 0);
    return { tool, score: tool === exact ? Number.POSITIVE_INFINITY : score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score || (one.tool.name < other.tool.name ? -1 : 1))
    .map(({ tool }) => tool);
}

function has(words: readonly string[], wanted: string): boolean {
  return words.some((word) => word === wanted || (wanted.length > 3 && word.startsWith(wanted)));
}

/** The words of the description, and of the parameters and their descriptions. */
function restOf({ description, inputSchema }: Tool): readonly string[] {
  const { properties } = inputSchema;
  return wordsOf(`${description} ${properties ? JSON.stringify(properties).slice(0, longestSchema) : ''}`);
}

const longestSchema = 8192;

function wordsOf(text: string): readonly string[] {
  return (
    text
      .replace(/([a-z\d])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[\p{L}\d]+/gu) ?? []
  );
}
