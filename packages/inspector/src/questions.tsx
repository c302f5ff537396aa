import type { Client, TranscriptQuestion } from '@groundcrew/sdk/browser';
import { useState } from 'preact/hooks';

type Answered = Promise<{ readonly success: boolean }>;

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
      return <Permission question={question} {...props} />;
    case 'user_input.requested':
      return <UserInput question={question} {...props} />;
    case 'exit_plan_mode.requested':
      return <Plan question={question} {...props} />;
    case 'elicitation.requested':
      return <Form question={question} {...props} />;
    case 'auto_mode_switch.requested':
      return <ModelSwitch question={question} {...props} />;
    case 'session_limits_exhausted.requested':
      return <Limits question={question} {...props} />;
    default:
      return <pre>{describe(question.data)}</pre>;
  }
}

type AskedProps = QuestionProps & { send(answered: Answered): void };
type Of<K extends TranscriptQuestion['type']> = Omit<AskedProps, 'question'> & {
  readonly question: Extract<TranscriptQuestion, { readonly type: K }>;
};

/** A field for words beside the buttons. */
function useWords(label: string) {
  const [words, setWords] = useState('');
  const field = (
    <input
      aria-label={label}
      placeholder={label}
      value={words}
      onInput={({ currentTarget }) => setWords(currentTarget.value)}
    />
  );
  return { words, field };
}

function Permission({ client, sessionId, question, send }: Of<'permission.requested'>) {
  const { words, field } = useWords('Why not');
  const { requestId } = question;
  const decide = (result: Decision) =>
    send(client.call('session.permissions.handlePendingPermissionRequest', { sessionId, requestId, result }));
  return (
    <>
      <strong>May this run?</strong>
      <pre tabIndex={0}>{describe(question.data.permissionRequest)}</pre>
      <div class="bar">
        <button type="button" class="good" onClick={() => decide({ kind: 'approve-once' })}>
          Approve once
        </button>
        <button
          type="button"
          class="bad"
          onClick={() => decide({ kind: 'reject', ...(words !== '' && { feedback: words }) })}
        >
          Deny
        </button>
        {field}
      </div>
    </>
  );
}

type Decision = { readonly kind: 'approve-once' } | { readonly kind: 'reject'; readonly feedback?: string };

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
      <strong>{data.question}</strong>
      <div class="bar">
        {data.choices?.map((choice) => (
          <button key={choice} type="button" onClick={() => answer(choice, false)}>
            {choice}
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
  const respond = (approved: boolean) =>
    send(
      client.call('session.ui.handlePendingExitPlanMode', {
        sessionId,
        requestId,
        response: { approved, ...(words !== '' && { feedback: words }) },
      }),
    );
  return (
    <>
      <strong>Is the plan good?</strong>
      <pre tabIndex={0}>{describe(question.data)}</pre>
      <div class="bar">
        <button type="button" class="good" onClick={() => respond(true)}>
          Approve
        </button>
        <button type="button" class="bad" onClick={() => respond(false)}>
          Not yet
        </button>
        {field}
      </div>
    </>
  );
}

function ModelSwitch({ client, sessionId, question, send }: Of<'auto_mode_switch.requested'>) {
  const { requestId } = question;
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
      <strong>May another model answer?</strong>
      <div class="bar">
        {choice('yes', 'Yes')}
        {choice('yes_always', 'Always')}
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
      <strong>The session has spent what it may.</strong>
      <pre tabIndex={0}>{describe(question.data)}</pre>
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

interface FormField {
  readonly type?: string;
  readonly title?: string;
  readonly enum?: readonly string[];
}

function Form({ client, sessionId, question, send }: Of<'elicitation.requested'>) {
  const { message, requestedSchema } = question.data as {
    readonly message?: string;
    readonly requestedSchema?: { readonly properties?: Readonly<Record<string, FormField>> };
  };
  const fields = Object.entries(requestedSchema?.properties ?? {});
  const respond = (action: 'accept' | 'decline', content?: Record<string, string | number | boolean>) =>
    send(
      client.call('session.ui.handlePendingElicitation', {
        sessionId,
        requestId: question.requestId,
        result: { action, ...(content && { content }) },
      }),
    );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const content = fields.map(([name, field]) => [name, valueIn(field, given.get(name))] as const);
    respond('accept', Object.fromEntries(content.filter(([, value]) => value !== '')));
  };
  return (
    <form onSubmit={submit}>
      <strong>{message ?? 'A form'}</strong>
      {fields.map(([name, field]) => (
        <FormInput key={name} name={name} field={field} />
      ))}
      <div class="bar">
        <button type="submit" class="good">
          Send
        </button>
        <button type="button" class="bad" onClick={() => respond('decline')}>
          Decline
        </button>
      </div>
    </form>
  );
}

function FormInput({ name, field }: { readonly name: string; readonly field: FormField }) {
  const id = `form-${name}`;
  return (
    <p class="field">
      <label for={id}>{field.title ?? name}</label>
      {field.enum ? (
        <select name={name} id={id}>
          {field.enum.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : (
        inputOf(field.type, { name, id })
      )}
    </p>
  );
}

function inputOf(type: string | undefined, named: { readonly name: string; readonly id: string }) {
  if (type === 'boolean') return <input type="checkbox" {...named} />;
  if (type === 'number' || type === 'integer') return <input type="number" step="any" {...named} />;
  return <input type="text" {...named} />;
}

function valueIn({ type }: FormField, given: FormDataEntryValue | null): string | number | boolean {
  if (type === 'boolean') return given !== null;
  const text = typeof given === 'string' ? given : '';
  return (type === 'number' || type === 'integer') && text !== '' ? Number(text) : text;
}

function describe(asked: object): string {
  const { fullCommandText, diff, path, url, ...rest } = asked as Readonly<Record<string, unknown>>;
  const main = fullCommandText ?? diff ?? url ?? path;
  return typeof main === 'string' ? main : JSON.stringify(rest, null, 2);
}
