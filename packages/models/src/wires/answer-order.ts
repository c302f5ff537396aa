/** An answer taken apart, in some wire's tongue. */
export interface AnswerPieces<Item> {
  /** Nothing for an answer without text. */
  readonly text: Item | undefined;
  readonly calls: readonly Item[];
  readonly thoughts: readonly { readonly place: number; readonly item: Item }[];
}

/** The pieces in the order in which the model wrote them, without thoughts that nothing follows. */
export function inPlace<Item>({ text, calls, thoughts }: AnswerPieces<Item>): Item[] {
  const items: Item[] = [];
  let waiting: Item[] = [];
  const pieces = [text, ...calls];
  for (const [place, piece] of pieces.entries()) {
    waiting.push(...thoughts.filter((each) => each.place === place).map(({ item }) => item));
    if (piece === undefined) continue;
    items.push(...waiting, piece);
    waiting = [];
  }
  return items;
}

/** Where in its answer a thought stands that comes now. */
export function placeAfter(before: { readonly hasText: boolean; readonly calls: number }): number {
  if (before.calls > 0) return before.calls + 1;
  return before.hasText ? 1 : 0;
}
