import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const pages = join(import.meta.dirname, '../pages');
const titleOf = (name) =>
  /^# (.+)$/m.exec(readFileSync(join(pages, `${name}.md`), 'utf8'))?.[1]?.replaceAll('`', '') ?? name;
const items = (...names) => names.map((name) => ({ text: titleOf(name), link: `/${name}` }));

const groups = {
  Start: ['quickstart', 'coming-from-copilot-sdk', 'status', 'cli', 'terminal', 'web', 'acp'],
  Use: [
    'sessions',
    'events',
    'tools',
    'mcp',
    'permissions',
    'hooks',
    'questions',
    'structured-output',
    'prompt',
    'agents',
    'skills',
    'infinite-sessions',
    'models',
    'offline-model',
    'testing',
  ],
  Operate: [
    'operations',
    'observability',
    'sandbox',
    'postgres',
    'cluster',
    'tenants',
    'webhooks',
    'scale',
    'durability',
    'performance',
    'security',
    'stability',
    'reporting',
  ],
  Understand: ['architecture', 'glossary', 'wire', 'contributing', 'changelog'],
};
const listed = new Set([...Object.values(groups).flat(), 'index']);
const others = readdirSync(pages)
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.slice(0, -3))
  .filter((name) => !listed.has(name));
const isIntroduction = (name) => name === 'README.md';
const decisions = readdirSync(join(pages, 'decisions'))
  .filter((name) => name.endsWith('.md'))
  .sort((one, other) => Number(isIntroduction(other)) - Number(isIntroduction(one)));

export default {
  title: 'Groundcrew',
  description: 'An open runtime for agent sessions, and its TypeScript SDK',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  markdown: {
    html: false,
    config: (markdown) => {
      // Text is text: nothing on a page is a template.
      const text = markdown.renderer.rules.text;
      markdown.renderer.rules.text = (...words) => text(...words).replaceAll('{{', '&#123;&#123;');
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Quickstart', link: '/quickstart' },
      { text: 'SDK', link: '/api/sdk/' },
      { text: 'Testing', link: '/api/testing/' },
      { text: 'Wire', link: '/wire' },
    ],
    sidebar: [
      ...Object.entries(groups).map(([text, names]) => ({ text, items: items(...names) })),
      { text: 'More', items: items(...others) },
      {
        text: 'API',
        items: [
          { text: '@groundcrew/sdk', link: '/api/sdk/' },
          { text: '@groundcrew/testing', link: '/api/testing/' },
        ],
      },
      {
        text: 'Decisions',
        collapsed: true,
        items: items(...decisions.map((name) => `decisions/${name.slice(0, -3)}`)),
      },
    ],
    outline: [2, 3],
  },
};
