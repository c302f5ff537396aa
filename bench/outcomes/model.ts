import { type CompletionMessage, type Rule, RuleModel } from '@groundcrew/testkit';

/** The client's own tool. */
export const lookTool = {
  name: 'look',
  description: 'Looks at a thing',
  parameters: { type: 'object', properties: { at: { type: 'string' } } },
};

/** What the model is asked to do; the words decide, so that asking again gives the same answer again. */
export const prompts = {
  hello: 'HELLO',
  look: 'LOOK',
  lookTwice: 'LOOK TWICE',
  stream: (chunks: number) => `STREAM ${chunks}`,
  /** Runs a shell command that leaves a line in a file each time it is run. */
  count: 'COUNT',
};

/** What the model says when it has done what it was asked to do. */
export const lastWord = 'Done.';

/** The file that `count` writes to, in the session's working directory. */
export const countFile = 'runs.txt';

/** A model that answers by rule, slowly on request, and refuses what a strict service refuses. */
export function openModel(options: { readonly chunkPause?: number } = {}): Promise<RuleModel> {
  return RuleModel.open(rule, options);
}

/** The settings that lead a session of any runtime to the model. */
export function settingsFor(model: RuleModel): Readonly<Record<string, unknown>> {
  const { model: name, provider } = model.settings;
  return { model: name, provider: { type: 'openai', wireApi: 'completions', ...provider } };
}

const rule: Rule = (messages) => {
  const asked = messages.findLastIndex((message) => message.role === 'user' && orderIn(message));
  const order = orderIn(messages[asked]) ?? prompts.hello;
  const isDone = messages.slice(asked + 1).some(({ role }) => role === 'tool');
  const calls = isDone ? [] : callsFor(order, messages.length);
  if (calls.length > 0) return { calls };
  const chunks = Number(/^STREAM (\d+)/.exec(order)?.[1] ?? 0);
  return { chunks: [...Array.from({ length: chunks }, () => 'word '), lastWord] };
};

function orderIn(message: CompletionMessage | undefined): string | undefined {
  return /HELLO|LOOK TWICE|LOOK|STREAM \d+|COUNT/.exec(JSON.stringify(message?.content ?? ''))?.[0];
}

function callsFor(order: string, place: number) {
  const look = (at: string) => ({ id: `look-${at}-${place}`, name: lookTool.name, arguments: { at } });
  if (order === prompts.look) return [look('one')];
  if (order === prompts.lookTwice) return [look('one'), look('two')];
  if (order !== prompts.count) return [];
  const command = `echo run >> ${countFile}; sleep 0.05`;
  return [{ id: `count-${place}`, name: 'bash', arguments: { command, description: 'Count a run' } }];
}
