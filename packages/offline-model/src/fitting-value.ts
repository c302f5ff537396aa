type Schema = Readonly<Record<string, unknown>>;

/** A value that fits a schema, made of what a prompt says: numbers, names in quotes, words that are choices. */
export function fittingValue(schema: Schema, prompt: string): unknown {
  const numbers = [...prompt.matchAll(/-?\d+(?:\.\d+)?/g)].map(([text]) => Number(text));
  const quoted = [...prompt.matchAll(/["'“]([^"'”]+)["'”]/g)].map(([, text]) => text as string);
  return new Maker(schema, { prompt, numbers, quoted }).make(schema, 0);
}

interface Material {
  readonly prompt: string;
  /** Taken one after the other. */
  readonly numbers: number[];
  readonly quoted: string[];
}

const deepest = 32;

class Maker {
  constructor(
    private readonly root: Schema,
    private readonly material: Material,
  ) {}

  make(given: unknown, depth: number): unknown {
    const schema = this.resolve(given);
    if (depth > deepest) return null;
    if (schema.const !== undefined) return schema.const;
    if (schema.default !== undefined) return schema.default;
    if (Array.isArray(schema.enum)) return this.choice(schema.enum);
    const [variant] = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((each) =>
      Array.isArray(each) ? each : [],
    );
    if (variant !== undefined) return this.make(variant, depth + 1);
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
    switch (type) {
      case 'object':
        return this.object(schema, depth);
      case 'array':
        return Array.from({ length: Number(schema.minItems ?? 1) }, () =>
          this.make(schema.items ?? {}, depth + 1),
        );
      case 'number':
      case 'integer':
        return this.number(schema, type);
      case 'boolean':
        return !/\b(no|not|never|false)\b/i.test(this.material.prompt);
      case 'null':
        return null;
      default:
        return this.text(schema);
    }
  }

  private resolve(given: unknown): Schema {
    const schema = (typeof given === 'object' && given !== null ? given : {}) as Schema;
    if (typeof schema.$ref !== 'string') return schema;
    const steps = schema.$ref.split('/').slice(1);
    const found = steps.reduce<unknown>((at, step) => (at as Schema | undefined)?.[step], this.root);
    return (found ?? {}) as Schema;
  }

  private object({ properties = {} }: Schema, depth: number): unknown {
    const entries = Object.entries(properties as Schema);
    return Object.fromEntries(entries.map(([name, each]) => [name, this.make(each, depth + 1)]));
  }

  private choice(choices: readonly unknown[]): unknown {
    const { prompt } = this.material;
    return choices.find((each) => prompt.toLowerCase().includes(String(each).toLowerCase())) ?? choices[0];
  }

  private number({ minimum, maximum, exclusiveMinimum }: Schema, type: string): number {
    const wish = this.material.numbers.shift() ?? 0;
    const least = Number(
      minimum ?? (exclusiveMinimum === undefined ? -Infinity : Number(exclusiveMinimum) + 1),
    );
    const fitting = Math.min(Math.max(wish, least), Number(maximum ?? Infinity));
    return type === 'integer' ? Math.round(fitting) : fitting;
  }

  private text({ minLength, maxLength }: Schema): string {
    const wish = this.material.quoted.shift() ?? this.material.prompt;
    return wish.padEnd(Number(minLength ?? 0), '.').slice(0, Number(maxLength ?? 500));
  }
}
