/** A field of a form, as `requestedSchema.properties` describes it; the runtime has checked it. */
export interface FormField {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly enumNames?: readonly string[];
  readonly oneOf?: readonly TitledValue[];
  /** What a list may hold. */
  readonly items?: { readonly enum?: readonly string[]; readonly anyOf?: readonly TitledValue[] };
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

interface TitledValue {
  readonly const: string;
  readonly title?: string;
}

/** A value that a user may choose, and what they read. */
export interface FormChoice {
  readonly value: string;
  readonly label: string;
}

/** What a user can choose for a field, one or several of a list; undefined for a field that is written. */
export function formChoices({
  enum: one,
  enumNames,
  oneOf,
  items,
}: FormField): readonly FormChoice[] | undefined {
  const listed = one ?? items?.enum;
  if (listed) return listed.map((value, at) => ({ value, label: enumNames?.[at] ?? value }));
  return (oneOf ?? items?.anyOf)?.map(({ const: value, title }) => ({ value, label: title ?? value }));
}
