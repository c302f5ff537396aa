import type { KnownWord } from '../command-word.js';
import { optionTable, type ParsedCall, parseCall } from '../options.js';
import { isHarmlessAwk } from './awk.js';
import { leadsElsewhere } from './jq-filter.js';
import { each, has, type Program, type Understood, valuesOf } from './program.js';

/** Programs with a language of their own: what is written in it is read as well. */
export const languages: readonly (readonly [string, Program])[] = [
  ['sed', sed()],
  ...each('awk gawk mawk nawk original-awk', awk()),
  ['jq', jq],
];

/**
 * A pattern up to this mark. The mark may stand in brackets without ending the pattern, and whether it does differs from
 * program to program: brackets that hold one, or that are not closed, are not understood.
 */
function sedPattern(mark: string): string {
  const inBrackets = String.raw`(?:\[:[a-z]+:\]|\\[^\][\n]|[^\][\\\n${mark}])`;
  const brackets = String.raw`\[(?!\^?\])${inBrackets}+\]|\[\^?\]${inBrackets}*\]`;
  return String.raw`(?:[^[\\\n${mark}]|\\.|${brackets})*`;
}

function sedSubstitution(mark: string): string {
  return String.raw`s${mark}${sedPattern(mark)}${mark}(?:[^\\\n${mark}]|\\.)*${mark}[gpiI\d]*`;
}

const sedPlace = String.raw`\$|/${sedPattern('/')}/`;
/** Prints, deletes, quits and substitutes, without the flags that write files or run commands. */
const harmlessSed = new RegExp(
  String.raw`^(?:(?:\d+|${sedPlace})(?:,(?:[+~]?\d+|${sedPlace}))?)?!?\s*(?:[pdq=]|` +
    `${['/', '|', '#', ','].map((mark) => sedSubstitution(mark === '|' ? String.raw`\|` : mark)).join('|')})$`,
);

function sed(): Program {
  const table = optionTable(
    '-nErsuz -e: --quiet --silent --regexp-extended --separate --unbuffered --null-data --expression= --posix --sandbox --debug --help --version',
  );
  return (words) => {
    const call = parseCall(words, table);
    const texts = call && programTexts(call, '-e', '--expression');
    if (!call || !texts) return undefined;
    const isHarmless = texts.every((text) =>
      text.split(/[;\n]/).every((part) => harmlessSed.test(part.trim())),
    );
    // A file to write is opened while options are read: before `--version` is.
    if (!isHarmless) return undefined;
    if (has(call, '-e', '--expression')) return { role: 'reads', ...call };
    const [text, ...operands] = call.operands;
    return { role: 'reads', options: call.options, operands, ...(text && { texts: [text] }) };
  };
}

/** `-f` and `-i` are not here: what they name is a program. */
function awk(): Program {
  const table = optionTable('-F: -v: --field-separator= --assign= --version --help');
  return (words) => {
    const call = parseCall(words, table, { stopsAtOperand: true });
    const [text, ...operands] = call?.operands ?? [];
    if (call && isQuestion(call) && !text) return { role: 'reads', ...call };
    if (!call || text?.kind !== 'literal' || !isHarmlessAwk(text.value)) return undefined;
    if (!valuesOf(call, '-v', '--assign').every((each) => /^[A-Za-z_]\w*=/.test(each))) return undefined;
    return { role: 'reads', options: call.options, operands, texts: [text] };
  };
}

function isQuestion(call: ParsedCall): boolean {
  return has(call, '--version', '--help');
}

/** The texts of a program: values of these options, or else the first operand. */
function programTexts(call: ParsedCall, ...names: readonly string[]): readonly string[] | undefined {
  const given = valuesOf(call, ...names);
  if (given.length > 0) return given;
  const [first] = call.operands;
  if (!first) return isQuestion(call) ? [] : undefined;
  return first.kind === 'literal' ? [first.value] : undefined;
}

const jqFlags = optionTable(
  '-ncCMraejsSRgu0 --null-input --raw-input --slurp --compact-output --raw-output --raw-output0 --join-output --ascii-output ' +
    '--sort-keys --color-output --monochrome-output --tab --unbuffered --stream --stream-errors --seq --exit-status --help ' +
    '--version',
);

/** How many words an option of jq takes. */
const jqWords: Readonly<Record<string, number>> = {
  '--arg': 2,
  '--argjson': 2,
  '--slurpfile': 2,
  '--rawfile': 2,
  '--indent': 1,
};

/** A filter in a file says nothing here. */
function jq(words: readonly KnownWord[]): Understood | undefined {
  const plain: KnownWord[] = [];
  const values: KnownWord[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (!word || word.kind === 'dynamic') return undefined;
    const count = Object.hasOwn(jqWords, word.value) ? (jqWords[word.value] ?? 0) : 0;
    if (word.value === '--args' || word.value === '--jsonargs') continue;
    if (count > 0) values.push(...words.slice(at + 1, at + 1 + count));
    else plain.push(word);
    at += count;
  }
  const call = parseCall(plain, jqFlags);
  if (!call || values.some(({ kind, value }) => kind !== 'literal' || value.startsWith('-')))
    return undefined;
  const [filter, ...files] = call.operands;
  if (filter && (filter.kind !== 'literal' || leadsElsewhere(filter.value))) return undefined;
  const operands = [...files, ...values];
  return { role: 'reads', options: call.options, operands, ...(filter && { texts: [filter] }) };
}
