import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { homeDirectory } from '../config/home.js';
import { chooseStore, storeFlag } from '../config/store-choice.js';
import { UsageError } from '../flags/arguments.js';
import { numberFlag, switchFlag } from '../flags/flags.js';
import { storeFile } from '../stores/home-store.js';
import { rated, topLines } from '../stores/top-table.js';
import { type WatchedStore, watchedStore } from '../stores/watched-store.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { defineCommand, show } from './command.js';
import { homeFlag } from './store-place.js';

/** How many seconds lie between two looks unless a number is given, and with --once. */
const usualSeconds = 2;
const onceSeconds = 1;

/** `groundcrew top`: nodes, sessions, turns, queues and leases, as they are now. */
export const top = defineCommand({
  usage: ['groundcrew top [--interval S] [--store URL] [--home DIR]', 'groundcrew top --once [--json]'],
  summary: 'Shows nodes, sessions, turns a second, queues and leases, live',
  flags: {
    once: switchFlag('--once', 'look for one second, print it and end'),
    json: switchFlag('--json', 'print JSON: one object, or one in each line without --once'),
    interval: numberFlag({
      name: '--interval',
      placeholder: 'S',
      help: `seconds between two updates; default: ${usualSeconds}`,
      most: 3_600,
    }),
    store: storeFlag,
    home: homeFlag,
  },
  notes: `With PostgreSQL it shows every node, by the row that each renews with its lease; with SQLite the processes that have
sessions of the home open. It needs no connection to a node and changes no session. Columns: LEASE how long the node still counts as
alive, LINKS clients that are served across nodes, OPEN sessions in memory, PROMPTS and QUESTIONS that wait, OWNED sessions
that only this node may write. It ends with Ctrl-C.
Exit codes: 0 it was shown, 1 the store cannot be read, 2 wrong usage.`,
  run: async ({ flags }, terminal) => {
    const { environment, workingDirectory } = terminal;
    if (flags.once && flags.interval !== undefined)
      throw new UsageError('--once looks for one second: --interval has no effect with it');
    const home = resolve(workingDirectory, flags.home ?? homeDirectory(environment, { isHeadless: false }));
    const url = await chooseStore({ given: flags.store, environment, homeDirectory: home });
    const onWarning = (message: string) => void terminal.errorOutput.write(`warning: ${message}\n`);
    const store = await watchedStore({ url, homeDirectory: home, onWarning });
    if (!store) throw new UsageError(`There is no store at ${storeFile(home)}`);
    const seconds = flags.once ? onceSeconds : Math.max(1, flags.interval ?? usualSeconds);
    try {
      return await watch(store, { ...flags, seconds }, terminal);
    } finally {
      await store.close();
    }
  },
});

interface TopOptions {
  readonly once?: boolean;
  readonly json?: boolean;
  readonly seconds: number;
}

/** Looks again and again: what is a second is the difference between two looks. */
async function watch(store: WatchedStore, wishes: TopOptions, terminal: Terminal): Promise<number> {
  const { once = false, json = false, seconds } = wishes;
  const stopping = new AbortController();
  const undo = terminal.onStop(() => stopping.abort());
  const isScreen = terminal.output.isTTY === true && !once && !json;
  try {
    let before = await store.look();
    for (;;) {
      await pause(seconds * 1_000, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return exitCodes.done;
      const now = await store.look();
      const shown = { store: store.name, ...rated(before, now) };
      before = now;
      if (json) show(JSON.stringify(shown, null, once ? 2 : undefined), terminal);
      else show(onScreen(topLines(shown), isScreen), terminal);
      if (once) return exitCodes.done;
    }
  } finally {
    undo();
  }
}

/** On a terminal each look takes the place of the one before. */
function onScreen(lines: readonly string[], isScreen: boolean): string {
  if (!isScreen) return `${lines.join('\n')}\n`;
  return `\u001B[H${lines.map((line) => `${line}\u001B[K`).join('\n')}\n\u001B[J`;
}
