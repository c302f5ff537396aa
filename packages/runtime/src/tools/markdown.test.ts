import { expect, test } from 'vitest';
import { toMarkdown } from './markdown.js';

const never = new AbortController().signal;

test('headings, links, lists and code keep their form; scripts and styles go', async () => {
  const html = `<h2>Use</h2><style>p{}</style><p>See <a href="https://example.com/">this</a>:</p>
    <ol><li>one</li></ol><pre><code class="language-js">let a = 1;\n</code></pre><script>track()</script>`;
  expect(await toMarkdown(html, never)).toBe(
    '## Use\n\nSee [this](https://example.com/):\n\n1.  one\n\n```js\nlet a = 1;\n```',
  );
});

test('a title that the page does not repeat stands above it', async () => {
  expect(await toMarkdown('<title>On wrens</title><p>They are small.</p>', never)).toBe(
    '# On wrens\n\nThey are small.',
  );
});

test('a page made to take for ever is given up when the call is, and holds up nothing else', async () => {
  const call = new AbortController();
  const reading = toMarkdown('<div>'.repeat(100_000), call.signal);
  setImmediate(() => call.abort(new Error('given up')));
  await expect(reading).rejects.toThrow('given up');
});
