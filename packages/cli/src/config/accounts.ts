import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Accounts, KnownUser } from '@groundcrew/server';
import { writeWholeFile } from '@groundcrew/store';
import { settingsText } from './settings-text.js';

/** A GitHub token and where it comes from; `user`: the user logged in by a client. */
export interface ShownToken {
  readonly value: string;
  readonly source: 'token' | 'env' | 'user';
  readonly host?: string;
  readonly login?: string;
}

/** The accounts of a program, as it was started. */
export function accountsOf(
  program: { readonly homeDirectory: string; readonly token?: ShownToken; readonly ignoresLogin?: boolean },
  loginOf: AccountOptions['loginOf'],
): HomeAccounts {
  const { homeDirectory, token, ignoresLogin } = program;
  return new HomeAccounts({
    homeDirectory: resolve(homeDirectory),
    given: token,
    usesStored: !ignoresLogin,
    loginOf,
  });
}

interface AccountOptions {
  readonly homeDirectory: string;
  /** What the start of the process gave; it goes before every login. */
  readonly given: ShownToken | undefined;
  /** A login of an earlier process holds too. */
  readonly usesStored: boolean;
  /** Whose token it is; nothing when no service can be asked. */
  loginOf(token: string): Promise<string | undefined>;
}

/** The GitHub accounts that clients logged in with: a file of the home that only its user reads. */
export class HomeAccounts implements Accounts {
  private readonly path: string;
  private hasLoggedIn: boolean;

  constructor(private readonly options: AccountOptions) {
    this.path = join(options.homeDirectory, 'accounts.json');
    this.hasLoggedIn = options.usesStored;
  }

  /** What the process shows to GitHub and its services. */
  get shown(): ShownToken | undefined {
    if (this.options.given) return this.options.given;
    const last = this.hasLoggedIn ? this.stored().at(-1) : undefined;
    return last && { value: last.token, source: 'user', host: last.host, login: last.login };
  }

  users(): readonly KnownUser[] {
    return this.stored().map(({ host, login }) => ({ host, login }));
  }

  tokenOf(user: KnownUser): string | undefined {
    return this.stored().find((known) => isSame(known, user))?.token;
  }

  async login({ host, login: named, token }: Parameters<Accounts['login']>[0]): Promise<void> {
    const login = (await this.options.loginOf(token)) ?? named;
    if (login === undefined) throw new Error('Whose token this is cannot be found out: name its login.');
    const others = this.stored().filter((known) => !isSame(known, { host, login }));
    this.write([...others, { host, login, token }]);
    this.hasLoggedIn = true;
  }

  async logout(user: KnownUser): Promise<boolean> {
    const left = this.stored().filter((known) => !isSame(known, user));
    this.write(left);
    return left.length > 0;
  }

  private stored(): readonly StoredUser[] {
    const source = settingsText(this.path);
    if (source === undefined) return [];
    const { users } = JSON.parse(source) as { readonly users?: unknown };
    return Array.isArray(users) ? users.filter(isStoredUser) : [];
  }

  /** There is always a whole file in its place. */
  private write(users: readonly StoredUser[]): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    writeWholeFile(this.path, `${JSON.stringify({ users }, undefined, 2)}\n`);
  }
}

interface StoredUser extends KnownUser {
  readonly token: string;
}

function isStoredUser(value: unknown): value is StoredUser {
  const { host, login, token } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return [host, login, token].every((each) => typeof each === 'string');
}

function isSame(known: KnownUser, { host, login }: KnownUser): boolean {
  return known.host === host && known.login === login;
}
