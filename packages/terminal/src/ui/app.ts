import { Box, Static, Text, useCursor } from 'ink';
import { createElement, type ReactElement } from 'react';
import { markOf } from './screen.js';

/** What is on the screen below the finished lines. */
export interface Frame {
  /** As they are written to the terminal. */
  readonly lines: readonly string[];
  /** Where the next character goes; input methods show there what is being composed. */
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
}

/** All that Ink renders: finished lines, each once, and the frame. */
export function App(given: {
  /** Finished lines, by the number under which the screen keeps them. */
  readonly prints: readonly number[];
  readonly frame: Frame;
}): ReactElement {
  const { setCursorPosition } = useCursor();
  const { lines, cursor } = given.frame;
  setCursorPosition(cursor && { x: cursor.column, y: cursor.row });
  const rows = lines.map((text) => createElement(Text, { wrap: 'truncate' }, text === '' ? ' ' : text));
  return createElement(
    Box,
    { flexDirection: 'column' },
    createElement(Static<number>, {
      items: [...given.prints],
      // biome-ignore lint/correctness/noChildrenProp: Static takes a function
      children: (id) => createElement(Text, { key: id }, markOf(id)),
    }),
    ...rows,
  );
}
