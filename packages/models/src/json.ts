/** True for what JSON calls an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The property, if the value is an object that has it. */
export function property(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** The value, if it is a string with something in it. */
export function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The value, if it can count something. */
export function countOrNothing(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** What a service sent, as a value; throws for what is no JSON, or nests so deep that a recursive reader would overflow the stack. */
export function parseReceived(text: string): unknown {
  if (text.length > 2 * mostLevels && nestsTooDeep(text))
    throw new Error(`it nests deeper than ${mostLevels} levels`);
  return JSON.parse(text);
}

const mostLevels = 256;

/** Counts brackets outside strings; the JSON need not be valid, for it is parsed afterwards. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < text.length && depth <= mostLevels; at += 1) {
    const mark = text.charCodeAt(at);
    if (mark === quote) isText = !isText;
    else if (isText && mark === backslash) at += 1;
    else if (!isText && (mark === openBrace || mark === openBracket)) depth += 1;
    else if (!isText && (mark === closeBrace || mark === closeBracket)) depth -= 1;
  }
  return depth > mostLevels;
}

const quote = 0x22;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
