import { randomBytes } from 'node:crypto';

const lifeSeconds = 24 * 60 * 60;
const mostKept = 10_000;

/** What a page gets in place of one of several tokens. The token stays here, and is looked at anew with each request. */
export class TokenCookies {
  private readonly name: string;
  private readonly kept = new Map<string, { readonly token: string; readonly until: number }>();

  /** Cookies know no port, so the name has it. */
  constructor(
    port: number,
    private readonly options: { readonly isSecure: boolean },
  ) {
    this.name = `groundcrew-${port}`;
  }

  /** The value of a `Set-Cookie` header. */
  issue(token: string): string {
    const id = randomBytes(32).toString('base64url');
    const [oldest] = this.kept.keys();
    if (this.kept.size >= mostKept && oldest !== undefined) this.kept.delete(oldest);
    this.kept.set(id, { token, until: Date.now() + lifeSeconds * 1000 });
    const attributes = `Path=/; Max-Age=${lifeSeconds}; HttpOnly; SameSite=Strict`;
    return `${this.name}=${id}; ${attributes}${this.options.isSecure ? '; Secure' : ''}`;
  }

  /** The token that a cookie stands for. */
  tokenOf(header: string | undefined): string | undefined {
    const all = (header ?? '').split(';').map((each) => each.trim());
    const id = all.find((each) => each.startsWith(`${this.name}=`))?.slice(this.name.length + 1) ?? '';
    const known = this.kept.get(id);
    if (!known) return undefined;
    if (known.until > Date.now()) return known.token;
    this.kept.delete(id);
    return undefined;
  }
}
