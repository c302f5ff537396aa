/** One statement of a script. */
export interface SqlStatement {
  readonly sql: string;
  /** The word it begins with, in capitals. */
  readonly keyword: string;
  /** All its words outside texts, quoted names and comments, in capitals. */
  readonly words: readonly string[];
}

/** Cuts a script at the semicolons that end statements: not at those in texts, names, comments or trigger bodies. */
export function splitStatements(script: string): readonly SqlStatement[] {
  const statements: SqlStatement[] = [];
  let start = 0;
  let words: string[] = [];
  let depth = 0;
  for (const { type, text, end } of tokensOf(script)) {
    if (type === 'word') {
      const word = text.toUpperCase();
      if (isTrigger(words)) depth += blockChange(word);
      words.push(word);
    }
    if (type !== 'semicolon' || depth > 0) continue;
    if (words.length > 0) statements.push(statementOf(script.slice(start, end), words));
    start = end;
    words = [];
    depth = 0;
  }
  const rest = script.slice(start);
  if (words.length > 0 || withoutComments(rest) !== '') statements.push(statementOf(rest, words));
  return statements;
}

function statementOf(sql: string, words: readonly string[]): SqlStatement {
  return { sql, keyword: words[0] ?? '', words };
}

interface Token {
  readonly type: 'word' | 'semicolon' | 'other';
  readonly text: string;
  readonly end: number;
}

const tokenPattern =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|;/g;

function* tokensOf(script: string): Iterable<Token> {
  for (const match of script.matchAll(tokenPattern)) {
    const [text] = match;
    yield { type: typeOf(text), text, end: match.index + text.length };
  }
}

function typeOf(text: string): Token['type'] {
  if (text === ';') return 'semicolon';
  return /^[A-Za-z_\u0080-\uffff]/.test(text) ? 'word' : 'other';
}

function isTrigger([first, ...rest]: readonly string[]): boolean {
  return first === 'CREATE' && rest.slice(0, 2).includes('TRIGGER');
}

/** In a trigger, BEGIN and CASE open what END closes. */
function blockChange(word: string): number {
  if (word === 'BEGIN' || word === 'CASE') return 1;
  return word === 'END' ? -1 : 0;
}

function withoutComments(sql: string): string {
  return sql.replace(/--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, '').trim();
}
