import { isObject } from '@groundcrew/models';
import { type MaskedText, parseJson, quote, unmask } from './masked-text.js';
import { conform, type Property, plainValue, type ValueType } from './value-type.js';

export interface Reading {
  readonly values: Readonly<Record<string, unknown>>;
  /** How many required properties the text says nothing about. */
  readonly unsaid: number;
}

/** Reads arguments out of a sentence: values with a name first, then the others by type and order, then plain ones. */
export function readArguments(
  properties: readonly Property[],
  sentence: MaskedText,
  latestResult?: string,
): Reading {
  const text = new Remainder(sentence);
  const values = new Map<Property, unknown>();
  const take = (wanted: readonly Property[], find: (property: Property) => unknown): void => {
    for (const property of wanted) {
      const value = values.has(property) ? undefined : find(property);
      if (value !== undefined) values.set(property, value);
    }
  };
  const required = properties.filter((property) => property.required);
  const literal = text.object(properties);
  take(properties, ({ name, valueType }) =>
    literal && Object.hasOwn(literal, name) ? conform(literal[name], valueType) : undefined,
  );
  take(properties, (property) => named(property, text));
  take(required, ({ valueType }) => unnamed(valueType, text));
  if (values.size === 0) take(properties.slice(0, 1), ({ valueType }) => unnamed(valueType, text));
  const texts = properties.filter(({ valueType }) => valueType.type === 'string');
  if (!texts.some((property) => values.has(property)))
    take(texts.filter((property) => property.required).slice(0, 1), () => phrase(text, latestResult));
  const unsaid = required.filter((property) => !values.has(property)).length;
  take(required, ({ valueType }) => plainValue(valueType));
  return { values: Object.fromEntries([...values].map(([{ name }, value]) => [name, value])), unsaid };
}

/** The words of a name in snake, kebab or camel case. */
export function wordsOf(name: string): readonly string[] {
  return name.split(/[^\p{L}\p{N}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u).filter((word) => word !== '');
}

/** What of a sentence no property has taken yet. */
class Remainder {
  #text: string;

  constructor(readonly sentence: MaskedText) {
    this.#text = sentence.text;
  }

  /** The arguments written out as JSON, if they are. */
  object(properties: readonly Property[]): Record<string, unknown> | undefined {
    const marks = this.#text.match(/[\uE000-\uF8FF]/g) ?? [];
    const objects = marks.map((mark) => parseJson(unmask(mark, this.sentence))).filter(isObject);
    return objects.find((object) => properties.some(({ name }) => Object.hasOwn(object, name)));
  }

  /** The first group of the pattern in a form that fits the shape; a match that fits is used up. */
  take(pattern: RegExp, valueType: ValueType): unknown {
    const match = pattern.exec(this.#text);
    if (!match) return undefined;
    const piece = (match[1] ?? '').replace(/(?<=[^.\s])[.?!]+$/, '');
    const pieces = valueType.type === 'array' ? piece.split(separator) : [piece];
    const revealed = pieces.map((one) => unmask(one, this.sentence)).filter((one) => one !== '');
    if (revealed.length === 0 && !/[\uE000-\uF8FF]/.test(piece)) return undefined;
    const value = conform(revealed.length > 1 ? revealed : (revealed[0] ?? ''), valueType);
    if (value !== undefined)
      this.#text = `${this.#text.slice(0, match.index)} ${this.#text.slice(match.index + match[0].length)}`;
    return value;
  }
}

const separator = /\s*(?:,\s*and\b|,|\band\b|&)\s*/;
const number = '[-+]?\\d+(?:\\.\\d+)?(?![\\w.]*\\w)';
const word = '[^\\s,;]+';
const words = `${word}(?:[ \\t]+(?!(?:and|with|then|using|so|for)\\b)${word})*`;
const place = words.replace('and|', 'and|in|at|on|from|to|');
const list = (item: string): string => `(?:${item})(?:\\s*(?:,\\s*and\\b|,|\\band\\b|&)\\s*(?:${item}))*`;

function named({ name, valueType }: Property, text: Remainder): unknown {
  if (wordsOf(name).length === 0) return undefined;
  const inflected = wordsOf(name).map((part) => (part.length > 3 ? `${part}(?:s|ed|ing)?` : part));
  const spoken = `(?<!\\w)${inflected.join('[\\s_-]*')}(?!\\w)`;
  const pattern = (source: string): RegExp => new RegExp(source, 'iu');
  const link = '\\s*(?:[:=]|\\b(?:is|to|as|of|set to|being|named|called)\\b)?\\s*';
  const after = (value: string): unknown => text.take(pattern(`${spoken}${link}(${value})`), valueType);
  const before = (value: string): unknown => text.take(pattern(`(${value})\\s+${spoken}`), valueType);
  switch (valueType.type) {
    case 'object': {
      const { values, unsaid } = readArguments(valueType.properties, text.sentence);
      return unsaid === 0 && Object.keys(values).length > 0 ? values : undefined;
    }
    case 'array':
      return (
        after(list(`${quote}|${number}`)) ??
        text.take(pattern(`${spoken}\\s*[:=]\\s*(${list(word)})`), valueType)
      );
    case 'boolean':
      if (text.take(pattern(`\\b(no)[nt]?\\s+${spoken}`), valueType) === false) return false;
      return (
        after('true|false|yes|no|on|off') ?? (text.take(pattern(`(${spoken})`), { type: 'string' }) && true)
      );
    case 'choice':
      return (
        after(quote) ??
        text.take(pattern(`(?<!\\w)(${valueType.values.map(escaped).join('|')})(?!\\w)`), valueType)
      );
    case 'number':
      return after(`${quote}|${number}`) ?? before(number);
    default: {
      const exact =
        after(quote) ?? before(quote) ?? text.take(pattern(`${spoken}\\s*=\\s*(${word})`), valueType);
      return exact ?? (name.length > 1 ? after(words) : undefined);
    }
  }
}

function unnamed(valueType: ValueType, text: Remainder): unknown {
  const anyQuote = text.take(new RegExp(`(${valueType.type === 'array' ? list(quote) : quote})`), valueType);
  if (anyQuote !== undefined || valueType.type === 'string' || valueType.type === 'boolean') return anyQuote;
  const numbers = valueType.type === 'array' ? list(number) : number;
  return text.take(new RegExp(`(?<![\\w.])(${numbers})`), valueType);
}

/** Text that was not quoted: what an earlier call gave, what follows a colon, or what a preposition leads to. */
function phrase(text: Remainder, latestResult: string | undefined): unknown {
  const valueType: ValueType = { type: 'string' };
  const meansResult = /\b((?:the|its|that) (?:result|output|answer|value))\b/i;
  if (latestResult !== undefined && text.take(meansResult, valueType) !== undefined) return latestResult;
  return (
    text.take(/:\s*(\S[\s\S]*)$/, valueType) ??
    text.take(
      new RegExp(`\\b(?:in|for|at|of|about|on|from|to|named|called|with)\\s+(?:the\\s+|an?\\s+)?(${place})`),
      valueType,
    )
  );
}

function escaped(value: unknown): string {
  return String(value).replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
