import type { Attack, AttackOptions } from './attack.js';
import { attackCommands } from './commands.js';
import { attackDeletion } from './deletion.js';
import { attackFreeze } from './freeze.js';
import { freezeCases } from './freeze-cases.js';
import { attackLinks } from './links.js';
import { attackWire } from './wire.js';

/** An attack by its name, and how often it is made. */
export interface NamedAttack {
  readonly name: string;
  /** What is tried, for the table. */
  readonly what: string;
  /** Cases of the long form, `npm run attack`. */
  readonly count: number;
  /** Cases of the short form, which runs with the tests; 0 where a test of its own makes them. */
  readonly shortCount: number;
  run(options: AttackOptions): Promise<Attack>;
}

/** Every attack, in the order they are made. A new one: a file beside this with `attackX`, and a row here. */
export const attacks: readonly NamedAttack[] = [
  {
    name: 'wire',
    what: 'hostile requests to every method of the table, and frames that are none, before and after the token',
    count: 10_000,
    shortCount: 400,
    run: attackWire,
  },
  {
    name: 'commands',
    what: 'everyday commands bent in hostile ways, judged, and run in real bash where they would run unasked',
    count: 20_000,
    shortCount: 300,
    run: attackCommands,
  },
  {
    name: 'links',
    what: 'view, edit, create, grep and glob, beside a process that swaps directories for links to denied ones',
    count: 960,
    shortCount: 0,
    run: attackLinks,
  },
  {
    name: 'deletion',
    what: 'deletions that are killed at each write step, files then damaged and repaired, every byte of the home read',
    count: 90,
    shortCount: 0,
    run: attackDeletion,
  },
  {
    name: 'freeze',
    what: 'the worst inputs that are known of a client, a model, a file or a page, beside a client that pings',
    count: freezeCases().length,
    shortCount: 0,
    run: attackFreeze,
  },
];
