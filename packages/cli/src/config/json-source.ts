/** A value of a JSON text that knows where it stands. */
export interface JsonNode {
  /** Where it begins, in characters. */
  readonly at: number;
  readonly value: unknown;
  /** Of a list. */
  readonly items?: readonly JsonNode[];
  /** Of an object, in the order of the text. */
  readonly fields?: readonly JsonField[];
}

/** A name and its value. */
export interface JsonField {
  readonly at: number;
  readonly name: string;
  readonly node: JsonNode;
}

/** What is wrong in a JSON text, and where. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';

  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }
}

/** Reads a JSON text and keeps the places of its values; a name that stands twice, and a value too many, is a fault. Throws JsonFault. */
export function parseJson(source: string, mostValues = Number.POSITIVE_INFINITY): JsonNode {
  const reader = new JsonReader(source, mostValues);
  const node = reader.value();
  reader.end();
  return node;
}

/** Larger files are no settings that anyone wrote; to read one of a hostile project would hold up all clients. */
export const largestSource = 256 * 1024;
export const mostSourceValues = 5000;

/** Line and column of a place, as users count. */
export interface SourcePlace {
  readonly line: number;
  readonly column: number;
}

/** Line and column of one place. */
export function placeIn(source: string, at: number): SourcePlace {
  return placesIn(source)(at);
}

/** The same of many places; of places in the order of the text each character is looked at once. */
export function placesIn(source: string): (at: number) => SourcePlace {
  let [line, lineStart] = [1, 0];
  return (at) => {
    if (at < lineStart) [line, lineStart] = [1, 0];
    for (
      let end = source.indexOf('\n', lineStart);
      end !== -1 && end < at;
      end = source.indexOf('\n', lineStart)
    ) {
      line += 1;
      lineStart = end + 1;
    }
    return { line, column: at - lineStart + 1 };
  };
}

const deepest = 100;

class JsonReader {
  private at = 0;
  private depth = 0;
  private count = 0;
  private readonly token = /"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true\b|false\b|null\b/y;
  private readonly space = /[ \t\r\n]*/y;

  constructor(
    private readonly source: string,
    private readonly mostValues: number,
  ) {}

  value(): JsonNode {
    this.count += 1;
    if (this.count > this.mostValues) throw this.fault(`there are more than ${this.mostValues} values`);
    this.skipSpace();
    const { at } = this;
    const first = this.source[at];
    if (first === '{') return this.nested(() => this.object(at));
    if (first === '[') return this.nested(() => this.list(at));
    return { at, value: this.scalar() };
  }

  end(): void {
    this.skipSpace();
    if (this.at < this.source.length) throw this.fault('expected the end of the file');
  }

  private object(at: number): JsonNode {
    const fields: JsonField[] = [];
    const names = new Set<string>();
    this.sequence('}', () => {
      const nameAt = this.at;
      if (this.source[nameAt] !== '"') throw this.fault('expected a name in double quotes');
      const name = String(this.scalar());
      if (names.has(name)) throw new JsonFault(`${JSON.stringify(name)} stands here twice`, nameAt);
      names.add(name);
      this.skipSpace();
      this.take(':');
      fields.push({ at: nameAt, name, node: this.value() });
    });
    const value = Object.fromEntries(fields.map((field) => [field.name, field.node.value]));
    return { at, value, fields };
  }

  private list(at: number): JsonNode {
    const items: JsonNode[] = [];
    this.sequence(']', () => items.push(this.value()));
    return { at, value: items.map((item) => item.value), items };
  }

  /** What stands between brackets, separated by commas. */
  private sequence(close: string, read: () => void): void {
    this.at += 1;
    this.skipSpace();
    while (this.source[this.at] !== close) {
      read();
      this.skipSpace();
      if (this.source[this.at] === close) break;
      this.take(',');
      this.skipSpace();
      if (this.source[this.at] === close) throw this.fault('a comma must be followed by a value');
    }
    this.at += 1;
  }

  private scalar(): unknown {
    const { token } = this;
    token.lastIndex = this.at;
    const text = token.exec(this.source)?.[0];
    if (text === undefined) throw this.fault('expected a value');
    try {
      const value: unknown = JSON.parse(text);
      this.at += text.length;
      return value;
    } catch {
      throw this.fault('this is no JSON value');
    }
  }

  private nested(read: () => JsonNode): JsonNode {
    this.depth += 1;
    if (this.depth > deepest) throw this.fault('this is nested too deeply');
    const node = read();
    this.depth -= 1;
    return node;
  }

  private take(character: string): void {
    if (this.source[this.at] !== character) throw this.fault(`expected ${character}`);
    this.at += 1;
  }

  private skipSpace(): void {
    const { space } = this;
    space.lastIndex = this.at;
    this.at += space.exec(this.source)?.[0].length ?? 0;
  }

  private fault(message: string): JsonFault {
    const isAtEnd = this.at >= this.source.length;
    return new JsonFault(isAtEnd ? `${message}, but the file ends` : message, this.at);
  }
}
