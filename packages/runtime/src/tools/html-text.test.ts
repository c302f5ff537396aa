import { expect, test } from 'vitest';
import { markdownOf } from './html-text.js';

test('headings, links, lists and code keep their form; scripts and styles go', () => {
  const html = `<h2>Use</h2><style>p{}</style><p>See <a href="https://example.com/">this</a>:</p>
    <ol><li>one</li></ol><pre><code class="language-js">let a = 1;\n</code></pre><script>track()</script>`;
  expect(markdownOf(html)).toBe(
    '## Use\n\nSee [this](https://example.com/):\n\n1.  one\n\n```js\nlet a = 1;\n```',
  );
});

test('a title that the page does not repeat stands above it', () => {
  expect(markdownOf('<title>On wrens</title><p>They are small.</p>')).toBe('# On wrens\n\nThey are small.');
});
