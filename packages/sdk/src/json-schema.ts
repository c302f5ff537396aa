/** A JSON Schema; written in place, its types are read from it. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** What a value that fits the schema looks like, as far as its plain keywords say; else `unknown`. */
export type FromJsonSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Variant)[] }
      ? FromJsonSchema<Variant>
      : S extends { readonly oneOf: readonly (infer Variant)[] }
        ? FromJsonSchema<Variant>
        : S extends { readonly type: infer Type }
          ? OfType<Type, S>
          : unknown;

type OfType<Type, S> = Type extends readonly (infer Name)[]
  ? OfType<Name, S>
  : Type extends 'string'
    ? string
    : Type extends 'number' | 'integer'
      ? number
      : Type extends 'boolean'
        ? boolean
        : Type extends 'null'
          ? null
          : Type extends 'array'
            ? ListOf<S>
            : Type extends 'object'
              ? ObjectOf<S>
              : unknown;

type ListOf<S> = S extends { readonly items: infer Item }
  ? readonly FromJsonSchema<Item>[]
  : readonly unknown[];

type ObjectOf<S> = S extends { readonly properties: infer Properties }
  ? Merged<
      {
        readonly [K in keyof Properties as K extends RequiredOf<S> ? K : never]: FromJsonSchema<
          Properties[K]
        >;
      } & {
        readonly [K in keyof Properties as K extends RequiredOf<S> ? never : K]?: FromJsonSchema<
          Properties[K]
        >;
      }
    >
  : { readonly [name: string]: unknown };

type RequiredOf<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

/** One object type where an editor would show two. */
type Merged<T> = { [K in keyof T]: T[K] };
