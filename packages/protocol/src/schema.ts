import * as z from 'zod/mini';
import type { Immutable } from './json.js';

/** What a schema lets through, as its readers see it. */
export type Value<L extends () => z.core.SomeType> = Immutable<z.output<ReturnType<L>>>;

/** Builds a schema at the first call and keeps it. */
export function once<S extends z.core.SomeType>(build: () => S): () => S {
  let schema: S | undefined;
  return () => {
    schema ??= build();
    return schema;
  };
}

/**
 * An object that lets fields of later versions through, while its type still catches a misspelt name.
 * The type says what goes in and out and nothing else: a table of full zod types takes the compiler ten times as long.
 */
export function openObject<const S extends z.core.$ZodLooseShape>(shape: S): OpenObject<S> {
  return z.looseObject(shape) as unknown as OpenObject<S>;
}

/** What `openObject` makes. */
export type OpenObject<S extends z.core.$ZodLooseShape> = z.ZodMiniType<
  z.core.$InferObjectOutput<S, NoFields>,
  z.core.$InferObjectInput<S, NoFields>
>;

type NoFields = Record<never, never>;

/** One of several open objects, distinguished by the literal in their field `tag`. */
export function oneOf<const V extends readonly z.ZodMiniType[]>(
  tag: string,
  variants: V,
): z.ZodMiniType<z.output<V[number]>, z.input<V[number]>> {
  // `openObject` forgets in its type, not in fact, which literals a field may have.
  return z.discriminatedUnion(
    tag,
    variants as unknown as [z.core.$ZodTypeDiscriminable],
  ) as unknown as z.ZodMiniType<z.output<V[number]>, z.input<V[number]>>;
}

/** The result of a method without a result: null, never absent. Narrowed in type like `openObject`. */
export const nothing = once(() => z.null() as unknown as z.ZodMiniType<null>);

/** Any text; the values known today help the editor and the documentation, others pass through. */
export function openEnum<const V extends string>(known: readonly V[]): z.ZodMiniType<V | (string & {})> {
  return z.string().register(z.globalRegistry, { examples: [...known] });
}
