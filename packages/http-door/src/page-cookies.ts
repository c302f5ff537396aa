import { createHmac, randomBytes } from 'node:crypto';
import { isSameToken } from './token.js';

const lifeSeconds = 7 * 24 * 60 * 60;

/** What a page gets in place of the token: no script can read it, and other sites cannot send it. */
export class PageCookies {
  private readonly name: string;

  /** Cookies know no port, so the name has it. */
  constructor(
    private readonly token: string,
    port: number,
  ) {
    this.name = `groundcrew-${port}`;
  }

  /** The value of a `Set-Cookie` header. It goes by the token: with another one it is worth nothing. */
  issue(): string {
    const fact = `${Math.floor(Date.now() / 1000) + lifeSeconds}.${randomBytes(16).toString('base64url')}`;
    const attributes = `Path=/; Max-Age=${lifeSeconds}; HttpOnly; SameSite=Strict`;
    return `${this.name}=${fact}.${this.sealOf(fact)}; ${attributes}`;
  }

  isValid(header: string | undefined): boolean {
    const all = (header ?? '').split(';').map((each) => each.trim());
    const value = all.find((each) => each.startsWith(`${this.name}=`))?.slice(this.name.length + 1);
    const [, fact, expires, seal] = /^((\d{1,12})\.[\w-]{1,64})\.([\w-]{1,64})$/.exec(value ?? '') ?? [];
    if (fact === undefined || seal === undefined) return false;
    return Number(expires) > Date.now() / 1000 && isSameToken(seal, this.sealOf(fact));
  }

  private sealOf(fact: string): string {
    return createHmac('sha256', this.token).update(`page cookie ${fact}`).digest('base64url');
  }
}
