import { expect, test } from 'vitest';
import { emptyDraft } from './editor.js';
import { viewDraft } from './editor-view.js';

test('a cursor inside characters that were joined is shown where they begin, in its own row', () => {
  // Two letters of a flag, the second typed first: the cursor is between them.
  const text = `${'x'.repeat(25)}🇩🇪`;
  const draft = { ...emptyDraft, text, cursor: text.length - 2 };
  expect(viewDraft(draft, { columns: 12, rows: 5 }).cursor).toEqual({ row: 2, column: 2 + 5 });
});
