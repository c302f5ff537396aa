import { visible } from '../terminal/visible.js';

/** Gives a text a colour; without colours, the text as it is. */
export type Paint = (text: string, colour: Colour) => string;

/** What a colour stands for. */
export type Colour = 'added' | 'removed' | 'place' | 'file';

/** Colours for a terminal that has them. */
export function paintFor(options: { readonly hasColours: boolean }): Paint {
  if (!options.hasColours) return (text) => text;
  return (text, colour) => `\u001b[${codes[colour]}m${text}\u001b[0m`;
}

/** The lines of a diff with what they mean to the eye; what would steer the terminal is shown by its code. */
export function colouredDiff(diff: string, paint: Paint): readonly string[] {
  const lines = diff.replace(/^\n/, '').replace(/\n$/, '').split('\n');
  const first = lines.findIndex((line) => line.startsWith('@@'));
  return lines.map((line, index) => {
    const text = visible(line).replaceAll('\\t', '\t');
    const colour = index < first || first < 0 ? 'file' : colourOf(line);
    return colour === undefined ? text : paint(text, colour);
  });
}

const codes: Readonly<Record<Colour, number>> = { added: 32, removed: 31, place: 36, file: 1 };

function colourOf(line: string): Colour | undefined {
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return line.startsWith('@@') ? 'place' : undefined;
}
