import type { Environment } from '@groundcrew/http-client';
import { type ModelError, restate } from './errors.js';

/** Who a service is asked by, for error messages: never the secret itself. */
export interface Credentials {
  /** Where the service is. */
  readonly address: string;
  /** The variable or option that the key or token came from; absent when none was sent. */
  readonly source?: string | undefined;
  /** The variable in which a key would be looked for; known where another one says the address. */
  readonly missing?: string | undefined;
}

/** The variable whose value this is, else the option that brought it. */
export function sourceOf(secret: string, option: string, environment: Environment): string {
  const variable = Object.keys(environment).find((name) => environment[name]?.trim() === secret.trim());
  return variable ?? option;
}

/** Programs take the key for the address in `X_BASE_URL` from `X_API_KEY`. */
export function keyVariableOf(baseUrl: string, environment: Environment): string | undefined {
  const name = Object.keys(environment).find(
    (each) => each.endsWith('_BASE_URL') && environment[each]?.trim() === baseUrl,
  );
  return name?.replace(/_BASE_URL$/, '_API_KEY');
}

/** An address without user, password and query, which may be secret. */
export function addressOf(url: string): string {
  if (!URL.canParse(url)) return 'its address';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/$/, '')}`;
}

/** A refusal, with what there is to check. */
export function refusedCredentials(error: ModelError, { address, source, missing }: Credentials): ModelError {
  const status = error.statusCode === undefined ? '' : ` (${error.statusCode})`;
  const reason = error.message.replace(/[.\s]+$/, '');
  const advice =
    source === undefined
      ? `No key was sent: set provider.apiKey${missing ? ` or ${missing}` : ', or the variable of the service (docs/models.md)'}`
      : `Check ${source}`;
  return restate(error, {
    message: `The model service at ${address} refused the request${status}: ${reason}. ${advice}.`,
  });
}
