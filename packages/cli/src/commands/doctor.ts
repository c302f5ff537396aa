import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { MachineSandbox, removedFilesIn, repairSession, systemClock } from '@groundcrew/runtime';
import {
  type Finding,
  type FindingType,
  type Inspection,
  isProblem,
  loadDoctor,
  type Recovery,
  type StorePlace,
} from '@groundcrew/store-sqlite';
import { chooseStore, storeFlag } from '../config/store-choice.js';
import { UsageError } from '../flags/arguments.js';
import { switchFlag } from '../flags/flags.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { defineCommand, show } from './command.js';
import { examineEnvironment, type Remark } from './doctor-environment.js';
import { inspectDirectories, tidyDirectories } from './leftover-files.js';
import { homeFlag, storePlace } from './store-place.js';

/** `groundcrew doctor`: what is wrong with a store, in words, and how it is put right. */
export const doctor = defineCommand({
  usage: ['groundcrew doctor [--home DIR] [--store URL] [--check]'],
  summary:
    'Checks keys, MCP servers, ports, the sandbox and the stored sessions, and recovers what is damaged',
  flags: {
    home: homeFlag,
    store: storeFlag,
    check: switchFlag('--check', 'only say what is wrong, and change nothing'),
  },
  notes: `Checks every file, session and record, also while runtimes use them. A damaged store is recovered into a
new file and kept beside it; no runtime may use it meanwhile. Deletions that were broken off are finished, and
a store of an earlier version is rewritten once. A store that is in order is left as it is.
Where sessions are in PostgreSQL, it checks these, and says what a crash or a failover of the server may lose.
Exit code 0: all is in order, or is so now. 1: there are problems. 2: the command line makes no sense.`,
  run: async ({ flags }, terminal) => {
    const place = storePlace(flags.home, terminal);
    const { url, problem } = await storeOf(dirname(place.file), { given: flags.store, terminal });
    if (url !== undefined) {
      const { examineServers } = await import('./doctor-postgres.js');
      return examineServers(url, { isCheckOnly: flags.check === true, terminal });
    }
    const found = await examineEnvironment(dirname(place.file), terminal);
    // What is wrong with the settings as a whole stands there already.
    const remarks =
      problem === undefined || found.some((each) => each.isProblem) ? found : [...found, problem];
    for (const { text } of remarks) show(text, terminal);
    const first = await inspect(place);
    show(await sandboxLine(new MachineSandbox(terminal.environment)), terminal);
    show(report(place, first, remarks), terminal);
    if (flags.check || !first.findings.some(isRepairable)) {
      if (first.findings.some(isRepairable))
        show('Run groundcrew doctor without --check to put this right.', terminal);
      return isFaulty(first.findings, remarks) ? exitCodes.failed : exitCodes.done;
    }
    for await (const sentence of repair(place, first)) show(sentence, terminal);
    const last = (await inspect(place)).findings.filter(isProblem);
    for (const finding of last) show(line(finding), terminal);
    if (existsSync(place.file))
      show(last.length === 0 ? 'The store is in order.' : 'Problems remain.', terminal);
    return isFaulty(last, remarks) ? exitCodes.failed : exitCodes.done;
  },
});

/** Which store is meant. Settings that do not say it in a way that makes sense are a problem to be told, not an end. */
async function storeOf(
  homeDirectory: string,
  {
    given,
    terminal,
  }: { readonly given: string | undefined; readonly terminal: Pick<Terminal, 'environment'> },
): Promise<{ readonly url?: string | undefined; readonly problem?: Remark }> {
  const { environment } = terminal;
  try {
    return { url: await chooseStore({ given, environment, homeDirectory }) };
  } catch (error) {
    const isOfFile = given === undefined && !environment.GROUNDCREW_STORE;
    if (!(error instanceof UsageError) || !isOfFile) throw error;
    const text = `problem: the settings do not say where sessions are: ${error.message}. Correct them.`;
    return { problem: { text, isProblem: true } };
  }
}

function isFaulty(findings: readonly Finding[], remarks: readonly Remark[]): boolean {
  return findings.some(isProblem) || remarks.some((remark) => remark.isProblem);
}

function report(place: StorePlace, { findings, contents }: Inspection, remarks: readonly Remark[]): string {
  const held = contents
    ? `${many(contents.sessions, 'session')}, ${many(contents.records, 'record')}, version ${contents.version}`
    : 'contents unknown';
  const lines = existsSync(place.file) ? [`${place.file}: ${held}`] : [];
  const problems = findings.filter(isProblem).length + remarks.filter((remark) => remark.isProblem).length;
  const verdict = problems === 0 ? 'No problems found.' : `${many(problems, 'problem')} found.`;
  return [...lines, ...findings.map(line), verdict].join('\n');
}

/** A machine without a sandbox has no fault; a session that asks for one is refused. */
async function sandboxLine(host: MachineSandbox): Promise<string> {
  const probe = await host.probe();
  if (probe.type === 'missing') return `note: no sandbox for commands: ${probe.reason}`;
  const { sandbox } = probe;
  const isOpen = sandbox.kind === 'bwrap' && !sandbox.abilities.filtersCalls;
  const open =
    '\nnote: the kernel filters no system calls here: commands in it can use the keyrings of this session, and vsock without a network';
  const works = `The sandbox for commands works: ${sandbox.kind} (${sandbox.program}).${isOpen ? open : ''}`;
  const [first, ...others] = host.reachableSockets();
  if (first === undefined) return works;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return `${works}\nnote: with the network on, commands in it can reach sockets without a path of other programs: ${first}${more}`;
}

function line(finding: Finding): string {
  return `${isProblem(finding) ? 'problem' : 'note'}: ${finding.message}`;
}

/** The store and what lies beside it. */
async function inspect(place: StorePlace): Promise<Inspection> {
  try {
    const inspection = (await loadDoctor()).inspectStore(place);
    const left = await inspectDirectories(place, inspection);
    return { ...inspection, findings: [...inspection.findings, ...left] };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const message = `${place.file} cannot be looked at (${error.message}). Run this as the user whose home it is.`;
    return { findings: [{ type: 'unreachable', message }] };
  }
}

const repairable: ReadonlySet<FindingType> = new Set([
  'damaged',
  'exposed',
  'unfinished',
  'rewritable',
  'leftover',
]);

function isRepairable({ type }: Finding): boolean {
  return repairable.has(type);
}

/** What was done, as sentences. */
async function* repair(place: StorePlace, { findings }: Inspection): AsyncGenerator<string> {
  const store = await loadDoctor();
  const has = (type: FindingType) => findings.some((finding) => finding.type === type);
  const files = removedFilesIn(dirname(place.file));
  if (has('damaged')) {
    const clock = systemClock();
    const recovery = store.recoverStore({ ...place, repair: (cut) => repairSession(cut, clock) });
    await store.finishRecovered(recovery.deleted, { place, files });
    yield* recovered(recovery);
  } else {
    if (has('unfinished')) yield* await store.finishDeletions(place, files);
    if (has('rewritable')) yield* store.rewriteStore(place);
  }
  yield* store.tidyFiles(place);
  yield* await tidyDirectories(place, store.inspectStore(place));
}

function recovered(recovery: Recovery): readonly string[] {
  const { sessions, records, cut, holed, lost, deleted, keptAs } = recovery;
  return [
    `Recovered ${many(sessions, 'session')} with ${many(records, 'record')} into a new file.`,
    ...cut.map(({ sessionId, kept, of }) => {
      const end = of === undefined ? `record ${kept}; what came after is unknown` : `record ${kept} of ${of}`;
      return `Session ${sessionId} now ends after ${end}, and says so.`;
    }),
    ...holed.map(
      ({ sessionId, missing }) => `Session ${sessionId} goes on without record ${missing.join(', ')}.`,
    ),
    ...lost.map((sessionId) => `Session ${sessionId} is lost: none of its records can be read.`),
    keptAs === undefined
      ? `The damaged store is not kept: it held ${many(deleted.length, 'session')} whose deletion had begun.`
      : `The damaged store is kept as ${keptAs}.`,
  ];
}

function many(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
