import { clean } from './clean.js';
import type { Line, Style } from './span.js';

/** Which looks a terminal gets. */
export type ThemeName = 'light' | 'dark' | 'none';

/** Turns a line into what is written to a terminal. All that is shown goes through here, so nothing in it steers one. */
export type Paint = (line: Line) => string;

/** The looks of a theme; `none` has no colours and no other looks. */
export function paintFor(theme: ThemeName): Paint {
  if (theme === 'none') return (line) => line.map(({ text }) => safe(text)).join('');
  const codes = themes[theme];
  return (line) =>
    line
      .map(({ text, styles = [] }) =>
        styles.length === 0 || text === ''
          ? safe(text)
          : `\u001b[${styles.map((style) => codes[style]).join(';')}m${safe(text)}\u001b[0m`,
      )
      .join('');
}

function safe(text: string): string {
  return clean(text).replaceAll('\n', ' ');
}

const common = { dim: '2', bold: '1', italic: '3', strike: '9', underline: '4' } as const;

/** Colours of the terminal's own palette, so that its scheme decides; those that its background hides are left out. */
const themes: Readonly<Record<'light' | 'dark', Readonly<Record<Style, string>>>> = {
  dark: {
    ...common,
    accent: '36',
    user: '1;36',
    good: '32',
    bad: '31',
    warning: '33',
    code: '36',
    keyword: '35',
    string: '32',
    comment: '90',
    number: '33',
    added: '32',
    removed: '31',
    heading: '1;35',
  },
  light: {
    ...common,
    accent: '34',
    user: '1;34',
    good: '32',
    bad: '31',
    warning: '35',
    code: '34',
    keyword: '35',
    string: '32',
    comment: '90',
    number: '34',
    added: '32',
    removed: '31',
    heading: '1;34',
  },
};
