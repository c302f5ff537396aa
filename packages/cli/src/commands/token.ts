import { join } from 'node:path';
import {
  AuthFault,
  changeAuthFile,
  isTenantName,
  newToken,
  readAuthFile,
  tokenEntry,
} from '@groundcrew/tenants';
import { homeDirectory } from '../config/home.js';
import { UsageError } from '../flags/arguments.js';
import { choiceFlag, textFlag } from '../flags/flags.js';
import type { Terminal } from '../terminal/terminal.js';
import { defineCommand, show } from './command.js';

/** `groundcrew token`: makes, lists and removes the tokens of `serve --auth`. */
export const token = defineCommand({
  usage: [
    'groundcrew token add NAME --tenant T [--role member] [--expires TIME] [--auth F]',
    'groundcrew token ls [--auth F]',
    'groundcrew token rm NAME [--auth F]',
  ],
  summary: 'Makes, lists and removes tokens of tenants, for groundcrew serve --auth',
  flags: {
    auth: textFlag('--auth', 'F', 'the file of tokens and tenants; default: auth.json of the home'),
    tenant: textFlag('--tenant', 'T', 'the tenant whose sessions the token opens'),
    role: choiceFlag('--role', ['observer', 'member', 'admin'], 'observer, member or admin; default: member'),
    expires: textFlag('--expires', 'TIME', 'when it expires, such as 2027-01-31T00:00:00Z; default: never'),
  },
  notes: `The token is printed once; the file keeps its hash only. A running server reads the file again by itself: clients
whose token was removed or got another role are disconnected at once.`,
  mostWords: 2,
  run: async ({ flags, words: [action, name] }, terminal) => {
    const file = flags.auth ?? join(homeDirectory(terminal.environment, { isHeadless: false }), 'auth.json');
    try {
      if (action === 'ls') return list(file, terminal);
      if (name === undefined) throw new UsageError('groundcrew token: expected add NAME, ls or rm NAME');
      if (action === 'add') return add(file, { ...flags, name }, terminal);
      if (action === 'rm') return remove(file, name, terminal);
    } catch (error) {
      throw error instanceof AuthFault ? new UsageError(error.message) : error;
    }
    throw new UsageError(`groundcrew token: expected add, ls or rm, not ${action}`);
  },
});

interface NewToken {
  readonly name: string;
  readonly tenant?: string;
  readonly role?: 'observer' | 'member' | 'admin';
  readonly expires?: string;
}

function add(file: string, { name, tenant, role = 'member', expires }: NewToken, terminal: Terminal): number {
  if (!isTenantName(tenant))
    throw new UsageError('groundcrew token add needs --tenant: up to 40 of a-z, 0-9, - and _');
  if (Date.parse(expires ?? '') <= Date.now())
    throw new UsageError(`--expires: ${expires} is over: name a time to come, such as 2027-01-31T00:00:00Z`);
  const made = newToken();
  changeAuthFile(file, (before) => ({
    ...before,
    tokens: [
      ...(before.tokens ?? []),
      tokenEntry(made, { name, tenant, role, ...(expires !== undefined && { expires }) }),
    ],
  }));
  terminal.errorOutput.write(`${name}: ${role} of ${tenant}, in ${file}. It is not shown again.\n`);
  return show(made, terminal);
}

function list(file: string, terminal: Terminal): number {
  const rows = (readAuthFile(file).tokens ?? []).map(({ name, tenant, role, expires = '' }) =>
    [name, tenant, role, expires].join('\t').trimEnd(),
  );
  return show(rows.join('\n'), terminal);
}

function remove(file: string, name: string, terminal: Terminal): number {
  changeAuthFile(file, (before) => {
    const tokens = (before.tokens ?? []).filter((each) => each.name !== name);
    if (tokens.length === (before.tokens ?? []).length)
      throw new UsageError(`${file} has no token of the name ${name}`);
    return { ...before, tokens };
  });
  return show(`${name} is removed`, terminal);
}
