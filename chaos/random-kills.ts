import { work } from './conversation.js';
import type { Lab, Life } from './lab.js';
import { newLedger } from './ledger.js';
import { firstLife, laterLife } from './lives.js';
import { Random } from './random.js';
import { type Failure, verdict } from './walk.js';

/** A plan for one run, all of it from one seed. */
interface Plan {
  readonly sessions: number;
  readonly clients: 1 | 2;
  readonly continuePendingWork: boolean;
  /** How each life but the last one ends. */
  readonly kills: readonly Pick<Life, 'failpoint' | 'killAfter' | 'dropAfter'>[];
}

/** Kills a runtime with several sessions once or twice at moments that the seed chooses. */
export async function killAtRandom(lab: Lab, seed: number): Promise<Failure | undefined> {
  const plan = planOf(seed);
  const { clients, continuePendingWork, kills } = plan;
  const home = await lab.newHome();
  const ledgers = Array.from({ length: plan.sessions }, (_, index) => newLedger(`random-${index + 1}`));
  const [first, ...later] = kills;
  await firstLife(lab, { home, ledgers, clients, ...first });
  for (const kill of [...later, {}]) {
    await laterLife(lab, { home, ledgers, clients, ...kill }, { continuePendingWork });
  }
  const problems: string[] = [];
  for (const ledger of ledgers) {
    const found = await verdict(lab, { home, ledger });
    if (continuePendingWork && !(await isDone(lab, home, ledger.sessionId)))
      found.push('the work was never done');
    problems.push(...found.map((problem) => `${ledger.sessionId}: ${problem}`));
  }
  return problems.length === 0 ? undefined : { deed: `seed ${seed}: ${JSON.stringify(plan)}`, problems };
}

/** Longer than all sessions take on a quick machine; a kill after the end is a kill of an idle runtime. */
const longest = 500;
const stepsPerSession = 50;

function planOf(seed: number): Plan {
  const random = new Random(seed);
  const sessions = random.isLucky() ? 1 : random.upTo(6);
  const clients = random.isLucky() ? 1 : 2;
  const kill = () => ({
    ...(random.isLucky()
      ? { killAfter: Math.round(random.next() * longest) }
      : { failpoint: random.upTo(stepsPerSession * (sessions > 1 ? 2 : 1)) }),
    ...(clients === 2 && random.isLucky() && { dropAfter: Math.round(random.next() * longest) }),
  });
  const kills = random.isLucky() ? [kill()] : [kill(), kill()];
  return { sessions, clients, continuePendingWork: random.isLucky(), kills };
}

async function isDone(lab: Lab, home: string, sessionId: string): Promise<boolean> {
  const records = await lab.stores.read(home, sessionId);
  return records.some(({ type, json }) => type === 'assistant.message' && json.includes(work.end));
}
