import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { approveAll, Client, type Session } from '@groundcrew/sdk';
import { type CompletionMessage, RuleModel, temporaryDirectory } from '@groundcrew/testkit';

/** Something that is planted in a conversation, and how it is asked for later. */
interface Planted {
  readonly kind: 'goal' | 'rule' | 'fact' | 'file';
  /** What has to be found again, word by word. */
  readonly words: string;
  /** The words of the question. */
  readonly question: string;
}

interface Score {
  readonly kept: number;
  readonly withRecall: number;
  /** Where the summary is all there is. */
  readonly summarised: number;
  readonly planted: number;
}

const noScore: Score = { kept: 0, withRecall: 0, summarised: 0, planted: 0 };
const kinds = ['goal', 'rule', 'fact', 'file'] as const;
const depths = [1, 3, 10];
const turnsEach = 8;
const runtimePath = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));
const page = fileURLToPath(new URL('../docs/infinite-sessions.md', import.meta.url));

const home = temporaryDirectory();
/** What models were sent last, and what their next answers are. */
let lastRequest = '';
let lastResult = '';

const rule = (messages: readonly CompletionMessage[]) => {
  const last = messages.at(-1);
  const text = typeof last?.content === 'string' ? last.content : JSON.stringify(last?.content ?? '');
  if (text.startsWith('Please create a detailed summary')) return { chunks: [emptySummary] };
  if (last?.role === 'tool') {
    lastResult = text;
    return { chunks: ['ok'] };
  }
  lastRequest = JSON.stringify(messages);
  const asked = /RECALL (.*)/.exec(text)?.[1];
  if (asked !== undefined)
    return {
      calls: [{ id: `call-${messages.length}-${asked.length}`, name: 'recall', arguments: { query: asked } }],
    };
  const [, berth, metres] = /Measure the berth (\S+) at (\d+)/.exec(text) ?? [];
  if (berth !== undefined)
    return { chunks: [`${filler('I measured.')} ${berthWords(berth, Number(metres))}. ${filler('All.')}`] };
  const [, chart, fathoms] = /Draw the chart (\S+) at (\d+)/.exec(text) ?? [];
  if (chart !== undefined && !isDrawn(messages, chart)) return { calls: [drawing(chart, Number(fathoms))] };
  return { chunks: ['Done.'] };
};

const filler = (name: string) => `${name} ${'lorem ipsum dolor sit amet '.repeat(40)}`;
const berthWords = (code: string, metres: number) => `The berth ${code} is ${metres} metres long`;
const chartWords = (code: string, fathoms: number) => `depth of ${code}: ${fathoms} fathoms`;
const chartPath = (code: string) => join(home.path, `chart-${code}.txt`);
const drawing = (code: string, fathoms: number) => ({
  id: `draw-${code}`,
  name: 'create',
  arguments: { path: chartPath(code), file_text: chartWords(code, fathoms) },
});
const isDrawn = (messages: readonly CompletionMessage[], code: string) =>
  JSON.stringify(messages).includes(`draw-${code}`);

const emptySummary = '<overview>Things happened.</overview>';

/** A session is filled and compacted so often; then everything is asked for. */
async function measure(client: Client, model: RuleModel, depth: number): Promise<Map<string, Score>> {
  const session = await client.createSession({
    ...model.settings,
    onPermissionRequest: approveAll,
    modelCapabilities: { limits: { max_prompt_tokens: 24_000 } },
    // Only by our wish, so that their number is known.
    infiniteSessions: { backgroundCompactionThreshold: 1, bufferExhaustionThreshold: 1 },
  });
  const planted: Planted[] = [];
  for (let round = 0; round < depth; round++) {
    for (let turn = 0; turn < turnsEach; turn++)
      planted.push(...(await plant(session, round * turnsEach + turn)));
    await session.call('session.history.compact', {});
  }
  await session.sendAndWait('And now?');
  const request = lastRequest;
  const found = new Map<string, Score>();
  for (const each of planted) {
    const isKept = request.includes(JSON.stringify(each.words).slice(1, -1));
    lastResult = '';
    if (!isKept) await session.sendAndWait(`RECALL ${each.question}`);
    const before = found.get(each.kind) ?? noScore;
    found.set(each.kind, {
      kept: before.kept + Number(isKept),
      withRecall: before.withRecall + Number(isKept || lastResult.includes(each.words)),
      summarised: before.summarised + Number(emptySummary.includes(each.words)),
      planted: before.planted + 1,
    });
  }
  await session.disconnect();
  // A file that is there already is not created again, and such a call counts for nothing.
  for (const { kind, words } of planted) if (kind === 'file') rmSync(words, { force: true });
  return found;
}

/** Long prompts and answers, with something in them that matters. */
async function plant(session: Session, number: number): Promise<readonly Planted[]> {
  if (number === 0) {
    const words = 'Build the harbour tide planner for Kestrel Bay.';
    await session.sendAndWait(words);
    return [{ kind: 'goal', words, question: 'which planner is to be built for which bay' }];
  }
  const code = `zq${(number * 7919).toString(36)}`;
  switch (number % 4) {
    case 1: {
      const words = `Always prefix module ${code} with tide_${number}.`;
      await session.sendAndWait(`${filler('Some background.')}\n${words}\n${filler('More.')}`);
      return [{ kind: 'rule', words, question: `how is module ${code} prefixed` }];
    }
    case 2: {
      await session.sendAndWait(`Measure the berth ${code} at ${number * 13}`);
      return [
        { kind: 'fact', words: berthWords(code, number * 13), question: `how long is the berth ${code}` },
      ];
    }
    case 3: {
      const words = `the pilot of ${code} is called Morrigan-${number}`;
      await session.sendAndWait(`${filler('Notes of today.')} By the way, ${words}. ${filler('End.')}`);
      return [{ kind: 'fact', words, question: `who is the pilot of ${code}` }];
    }
    default: {
      await session.sendAndWait(`Draw the chart ${code} at ${number * 3}`);
      return [
        { kind: 'file', words: chartPath(code), question: `where is the chart of ${code}` },
        { kind: 'fact', words: chartWords(code, number * 3), question: `what depth has the chart ${code}` },
      ];
    }
  }
}

function tableOf(results: ReadonlyMap<number, ReadonlyMap<string, Score>>): string {
  const share = (part: number, whole: number) =>
    whole === 0 ? '–' : `${Math.round((part / whole) * 100)} %`;
  const rows = [...results].flatMap(([depth, scores]) =>
    kinds.map((kind) => {
      const { kept, withRecall, summarised, planted } = scores.get(kind) ?? noScore;
      return `| ${depth} | ${kind} | ${planted} | ${share(kept, planted)} | ${share(withRecall, planted)} | ${share(summarised, planted)} |`;
    }),
  );
  return [
    '| compactions | planted | how many | in the next request | with `recall` | the summary alone |',
    '| ---: | --- | ---: | ---: | ---: | ---: |',
    ...rows,
  ].join('\n');
}

/** Below the goal: rules and goals whole, other things nearly. */
function shortfalls(results: ReadonlyMap<number, ReadonlyMap<string, Score>>): readonly string[] {
  return [...results].flatMap(([depth, scores]) =>
    [...scores].flatMap(([kind, { kept, withRecall, planted }]) => {
      const isStrict = kind === 'goal' || kind === 'rule';
      const isShort = isStrict ? kept < planted : withRecall < planted * 0.95;
      return isShort ? [`${kind} after ${depth} compactions`] : [];
    }),
  );
}

const model = await RuleModel.open(rule);
const client = new Client({
  baseDirectory: home.path,
  workingDirectory: home.path,
  env: { PATH: process.env.PATH, HOME: home.path, GROUNDCREW_CLI_PATH: runtimePath },
});
try {
  const results = new Map<number, ReadonlyMap<string, Score>>();
  for (const depth of depths) results.set(depth, await measure(client, model, depth));
  const table = tableOf(results);
  console.log(table);
  if (process.argv.includes('--write')) {
    const text = readFileSync(page, 'utf8');
    const written = `<!-- retention -->\n${table}\n<!-- /retention -->`;
    writeFileSync(
      page,
      text.replace(/<!-- retention -->[\s\S]*<!-- \/retention -->/, () => written),
    );
  }
  const missing = shortfalls(results);
  for (const each of missing) console.error(`below the goal: ${each}`);
  process.exitCode = missing.length > 0 ? 1 : 0;
} finally {
  await client.stop();
  await model.close();
  home.remove();
}
