import type { Challenge } from './client-auth.js';

/** Why a server sent a request back for want of a token, or of rights of the one that was shown; undefined where it did not. */
export function refusalReason(
  response: Response,
  token: string | undefined,
): 'initial' | 'refresh' | 'upscope' | undefined {
  if (response.status === 401) return token === undefined ? 'initial' : 'refresh';
  const isShort = /error="?insufficient_scope/.test(response.headers.get('www-authenticate') ?? '');
  return response.status === 403 && isShort ? 'upscope' : undefined;
}

/** The log-in that a refusal asks for in `WWW-Authenticate`; undefined where it names none. */
export function wantedLogin(response: Response): Challenge['wwwAuthenticateParams'] {
  const header = response.headers.get('www-authenticate') ?? '';
  if (header === '') return undefined;
  const value = (name: string) =>
    new RegExp(`\\b${name}=(?:"([^"]*)"|([^\\s,]+))`)
      .exec(header)
      ?.slice(1)
      .find((each) => each !== undefined);
  const resourceMetadataUrl = value('resource_metadata');
  const scope = value('scope');
  const error = value('error');
  return {
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
    ...(scope !== undefined && { scope }),
    ...(error !== undefined && { error }),
  };
}
