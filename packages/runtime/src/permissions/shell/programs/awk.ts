/** Names that a program may use besides variables of its own: nothing here opens, runs or lists anything. */
const words = new Set(
  (
    'BEGIN END if else for while do break continue next nextfile exit in delete print printf length substr index split sub ' +
    'gsub gensub match sprintf tolower toupper int sqrt exp log sin cos atan2 rand srand strftime systime mktime asort ' +
    'asorti and or xor NR NF FS OFS RS ORS FNR FILENAME SUBSEP RSTART RLENGTH CONVFMT OFMT IGNORECASE FIELDWIDTHS FPAT'
  ).split(' '),
);

/** What begins with a capital or names a facility is known, or is not used. */
const ownVariable = /^[a-z_]\w*$/;
const facilities = new Set(['getline', 'system', 'close', 'fflush', 'function', 'func', 'return', 'switch']);

/** Whether an awk program only calculates and prints to where its output goes. */
export function isHarmlessAwk(text: string): boolean {
  let mayBeRegex = true;
  let isPrinting = false;
  let at = 0;
  while (at < text.length) {
    const token = tokenAt(text, at, mayBeRegex);
    if (token === undefined || !isHarmless(token, text.slice(at + token.length))) return false;
    if (!mayBeRegex && token.startsWith('/') && !isLastSlash(text, at)) return false;
    // Behind `print` it names a file.
    if (token === '>' && isPrinting) return false;
    if (/^printf?$/.test(token)) isPrinting = true;
    else if (token === ';' || token === '}') isPrinting = false;
    if (!/^(?:\s|\\\n|#)/.test(token))
      mayBeRegex = !/^(?:[\w"/)\]$]|\+\+|--)/.test(token) || isKeyword(token);
    at += token.length;
  }
  return true;
}

/**
 * Whether a slash that divides is the last one of its line. Before another one it might begin a pattern: `if (x) /…/`, or a
 * rule of its own after a line break, and what follows would be read otherwise than it is here.
 */
function isLastSlash(text: string, at: number): boolean {
  const end = text.indexOf('\n', at);
  return !text.slice(at + 1, end < 0 ? text.length : end).includes('/');
}

/** After these a slash begins a pattern. */
function isKeyword(token: string): boolean {
  return /^(?:print|printf|in|if|while|else|do|exit)$/.test(token);
}

const pieces =
  /\s+|\\\n|#[^\n]*(?<!\\)(?=\n|$)|"(?:[^"\\\n]|\\[^\n])*"|[A-Za-z_]\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|&&|\|\||>=|<=|==|!=|!~|\+\+|--|\*\*|[-+*/%^]=|>(?!>)|[-+*/%^!~<?:;,(){}[\]$=]/y;
/** A slash in brackets ends the pattern for some of these programs. */
const pattern = /\/(?:[^/\\\n[]|\\[^\n]|\[\^?\]?(?:[^\]\n\\/]|\\[^\n])*\])+\//y;

/** A bar or an ampersand alone begins no token: behind `print` it would run something. */
function tokenAt(text: string, at: number, mayBeRegex: boolean): string | undefined {
  const shape = mayBeRegex && text[at] === '/' ? pattern : pieces;
  shape.lastIndex = at;
  return shape.exec(text)?.[0];
}

function isHarmless(token: string, rest: string): boolean {
  if (!/^[A-Za-z_]/.test(token)) return true;
  if (words.has(token)) return true;
  if (facilities.has(token) || !ownVariable.test(token)) return false;
  // A function that is not in the list, or one of the program's own.
  return !rest.startsWith('(');
}
