import type { Client, EventData, TranscriptQuestion } from '@groundcrew/sdk/browser';
import { useState } from 'preact/hooks';
import { Form } from './form.js';
import { visible } from './format.js';
import { Permission } from './permission.js';
import { type Answered, useWords } from './question-parts.js';

/** Questions that wait for an answer, each with its buttons. */
export function Questions({
  client,
  sessionId,
  questions,
}: {
  readonly client: Client;
  readonly sessionId: string;
  readonly questions: readonly TranscriptQuestion[];
}) {
  const shown = questions.filter(({ type }) => type !== 'external_tool.requested');
  if (shown.length === 0) return null;
  return (
    <div class="questions" role="region" aria-label="Open questions">
      {shown.map((question) => (
        <Question key={question.requestId} client={client} sessionId={sessionId} question={question} />
      ))}
    </div>
  );
}

interface QuestionProps {
  readonly client: Client;
  readonly sessionId: string;
  readonly question: TranscriptQuestion;
}

function Question({ client, sessionId, question }: QuestionProps) {
  const [outcome, setOutcome] = useState('');
  const send = (answered: Answered) => {
    setOutcome('…');
    answered.then(
      ({ success }) => setOutcome(success ? 'answered' : 'another client has answered before'),
      (error: Error) => setOutcome(error.message),
    );
  };
  return (
    <div class="question">
      <Asked client={client} sessionId={sessionId} question={question} send={send} />
      {outcome !== '' && <p role="status">{outcome}</p>}
    </div>
  );
}

function Asked({ question, ...props }: AskedProps) {
  switch (question.type) {
    case 'permission.requested':
      return <Permission data={question.data} requestId={question.requestId} {...props} />;
    case 'user_input.requested':
      return <UserInput question={question} {...props} />;
    case 'exit_plan_mode.requested':
      return <Plan question={question} {...props} />;
    case 'elicitation.requested':
      return <Elicitation question={question} {...props} />;
    case 'auto_mode_switch.requested':
      return <ModelSwitch question={question} {...props} />;
    case 'session_limits_exhausted.requested':
      return <Limits question={question} {...props} />;
    default:
      return <pre tabIndex={0}>{describe(question.data)}</pre>;
  }
}

type AskedProps = QuestionProps & { send(answered: Answered): void };
type Of<K extends TranscriptQuestion['type']> = Omit<AskedProps, 'question'> & {
  readonly question: Extract<TranscriptQuestion, { readonly type: K }>;
};

function UserInput({ client, sessionId, question, send }: Of<'user_input.requested'>) {
  const { words, field } = useWords('Your answer');
  const { requestId, data } = question;
  const answer = (text: string, wasFreeform: boolean) =>
    send(
      client.call('session.ui.handlePendingUserInput', {
        sessionId,
        requestId,
        response: { answer: text, wasFreeform },
      }),
    );
  return (
    <>
      <strong>{visible(data.question)}</strong>
      <div class="bar">
        {data.choices?.map((choice) => (
          <button key={choice} type="button" onClick={() => answer(choice, false)}>
            {visible(choice)}
          </button>
        ))}
        {data.allowFreeform !== false && (
          <>
            {field}
            <button type="button" disabled={words === ''} onClick={() => answer(words, true)}>
              Answer
            </button>
          </>
        )}
      </div>
    </>
  );
}

function Plan({ client, sessionId, question, send }: Of<'exit_plan_mode.requested'>) {
  const { words, field } = useWords('What to change');
  const { requestId } = question;
  const respond = (response: { readonly approved: boolean; readonly selectedAction?: PlanAction }) =>
    send(
      client.call('session.ui.handlePendingExitPlanMode', {
        sessionId,
        requestId,
        response: { ...response, ...(!response.approved && words !== '' && { feedback: words }) },
      }),
    );
  const { summary, planContent, actions } = question.data;
  return (
    <>
      <strong>Is the plan good? {visible(summary)}</strong>
      <pre tabIndex={0}>{visible(planContent)}</pre>
      <div class="bar">
        {actions.map((action) => (
          <button
            key={action}
            type="button"
            class="good"
            onClick={() => respond({ approved: true, selectedAction: action })}
          >
            {planActions.get(action) ?? action}
          </button>
        ))}
        <button type="button" class="bad" onClick={() => respond({ approved: false })}>
          Not yet
        </button>
        {field}
      </div>
    </>
  );
}

type PlanAction = Of<'exit_plan_mode.requested'>['question']['data']['actions'][number];

const planActions: ReadonlyMap<string, string> = new Map(
  Object.entries({
    interactive: 'Yes, and ask before each step',
    autopilot: 'Yes, without questions',
    autopilot_fleet: 'Yes, without questions, with several agents',
    exit_only: 'Yes, and stop planning',
  }),
);

function ModelSwitch({ client, sessionId, question, send }: Of<'auto_mode_switch.requested'>) {
  const { requestId, data } = question;
  const wait = data.retryAfterSeconds === undefined ? '' : ` for ${data.retryAfterSeconds} seconds`;
  const choice = (response: 'yes' | 'yes_always' | 'no', text: string) => (
    <button
      type="button"
      onClick={() =>
        send(client.call('session.ui.handlePendingAutoModeSwitch', { sessionId, requestId, response }))
      }
    >
      {text}
    </button>
  );
  return (
    <>
      <strong>The model is rate limited{wait}. Go on with another one?</strong>
      <div class="bar">
        {choice('yes', 'Yes')}
        {choice('yes_always', 'Yes, always')}
        {choice('no', 'No')}
      </div>
    </>
  );
}

function Limits({ client, sessionId, question, send }: Of<'session_limits_exhausted.requested'>) {
  const { words, field } = useWords('How much more');
  const { requestId } = question;
  const respond = (response: { readonly action: 'add' | 'unset' | 'cancel'; readonly additional?: number }) =>
    send(client.call('session.ui.handlePendingSessionLimitsExhausted', { sessionId, requestId, response }));
  return (
    <>
      <strong>The session has reached a limit: {spentText(question.data)}</strong>
      <div class="bar">
        {field}
        <button
          type="button"
          disabled={!(Number(words) > 0)}
          onClick={() => respond({ action: 'add', additional: Number(words) })}
        >
          Add
        </button>
        <button type="button" onClick={() => respond({ action: 'unset' })}>
          No limit
        </button>
        <button type="button" class="bad" onClick={() => respond({ action: 'cancel' })}>
          Stop
        </button>
      </div>
    </>
  );
}

function spentText({
  limit = 'maxAiCredits',
  max,
  used,
  maxAiCredits,
  usedAiCredits,
}: EventData<'session_limits_exhausted.requested'>): string {
  const round = (number: number) => Math.round(number * 10_000) / 10_000;
  return `${round(used ?? usedAiCredits)} of ${round(max ?? maxAiCredits)} ${limitUnits[limit]}`;
}

const limitUnits = {
  maxAiCredits: 'credits',
  maxCost: 'dollars',
  maxTokens: 'tokens',
  maxCalls: 'model calls',
};

function Elicitation({ client, sessionId, question, send }: Of<'elicitation.requested'>) {
  const { requestId } = question;
  return (
    <Form
      asked={question.data}
      respond={(result) =>
        send(client.call('session.ui.handlePendingElicitation', { sessionId, requestId, result }))
      }
    />
  );
}

/** What is asked about, in full. */
function describe(asked: object): string {
  return visible(JSON.stringify(asked, null, 2));
}
