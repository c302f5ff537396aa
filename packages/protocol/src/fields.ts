import * as z from 'zod/mini';
import { once } from './schema.js';

/** Some text. */
export const text = once(() => z.string());

/** Yes or no. */
export const flag = once(() => z.boolean());

/** Any number. */
export const number = once(() => z.number());

/** A list of texts. */
export const texts = once(() => z.array(text()));

/** Whatever comes. */
export const anything = once(() => z.unknown());

/** Text, or null for none. */
export const textOrNull = once(() => z.nullable(text()));

/** Yes or no, or null for neither. */
export const flagOrNull = once(() => z.nullable(flag()));

/** A number, or null for none. */
export const numberOrNull = once(() => z.nullable(number()));

/** A list of texts, or null for none. */
export const textsOrNull = once(() => z.nullable(texts()));

/** Texts by name, or null for none. */
export const textMapOrNull = once(() => z.nullable(z.record(text(), text())));

/** Anything by name, or null for none. */
export const mapOrNull = once(() => z.nullable(z.record(text(), anything())));
