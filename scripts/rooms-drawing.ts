import { essentialArrows, foldersOf, roomsOf } from './rooms.js';

const marks = { begin: '<!-- rooms: written by `npm run docs` -->', end: '<!-- /rooms -->' };

/** A page whose drawing of the runtime's rooms says what the imports say; throws when the page has no place for it. */
export function withRooms(page: string): string {
  const [before, rest] = page.split(marks.begin);
  const after = rest?.split(marks.end)[1];
  if (before === undefined || after === undefined) throw new Error(`The page has no ${marks.begin}`);
  return `${before}${marks.begin}\n${drawing()}\n${marks.end}${after}`;
}

function drawing(): string {
  const arrows = [...essentialArrows(foldersOf(roomsOf('runtime')))]
    .map(([from, to]) => `  ${from} --> ${to}`)
    .sort();
  return ['```mermaid', 'flowchart TD', ...arrows, '```'].join('\n');
}
