import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import {
  type AgentContext,
  type ClientCapabilities,
  type CreateElicitationRequest,
  type ElicitationSchema,
  methods,
  type PermissionOption,
  RequestError,
  type RequestPermissionRequest,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import {
  type ElicitationRequest,
  type ElicitationResult,
  type PermissionChoice,
  type PermissionInvocation,
  type PermissionRequest,
  type PermissionRequestResult,
  permissionChoices,
  type ResumeSessionOptions,
  type Session,
  type SessionLimitsAnswer,
  type SessionLimitsRequest,
} from '@groundcrew/sdk';
import { changesOf } from './changes.js';
import type { EditorApprovals } from './editor-context.js';
import { diffContent, textContent } from './tool-view.js';

/** What the questions of one session need. */
export interface QuestionParts {
  readonly editor: AgentContext;
  readonly abilities: ClientCapabilities;
  readonly approvals: EditorApprovals;
  readonly workingDirectory: string;
  session(): Session | undefined;
  /** Resolves when the editor has been shown all that came before. */
  ready(): Promise<void>;
}

type Handlers = Pick<
  ResumeSessionOptions,
  | 'onPermissionRequest'
  | 'onUserInputRequest'
  | 'onExitPlanModeRequest'
  | 'onElicitationRequest'
  | 'onAutoModeSwitchRequest'
  | 'onSessionLimitsRequest'
>;

/** Puts the questions of a session to the user of its editor. What the editor has no dialogue for is not offered to the model. */
export function questionHandlers(parts: QuestionParts): Handlers {
  const { form, url } = parts.abilities.elicitation ?? {};
  return {
    onPermissionRequest: (...question) => permission(parts, ...question),
    onExitPlanModeRequest: (request, _, signal) => plan(parts, request, signal),
    onAutoModeSwitchRequest: (request, _, signal) => otherModel(parts, request.retryAfterSeconds, signal),
    onSessionLimitsRequest: (request, _, signal) => spentLimit(parts, request, signal),
    ...(form && { onUserInputRequest: (request, _, signal) => userInput(parts, request, signal) }),
    ...((form || url) && {
      onElicitationRequest: (request, _, signal) => elicitation(parts, request, signal),
    }),
  };
}

/** Asks the editor which of these; undefined when its user has not chosen. */
async function choose(
  { editor, session, ready }: QuestionParts,
  asked: { readonly toolCall: ToolCallUpdate; readonly options: readonly PermissionOption[] },
  signal: AbortSignal,
): Promise<string | undefined> {
  await ready();
  const sessionId = session()?.sessionId ?? '';
  const params: RequestPermissionRequest = {
    sessionId,
    toolCall: asked.toolCall,
    options: [...asked.options],
  };
  const waiting = { cancellationSignal: signal, stopWaitingOnCancel: true };
  const answer: unknown = await editor.request(methods.client.session.requestPermission, params, waiting);
  return chosenIn(answer);
}

/** Whatever an editor sends comes this far: what is no choice is none. */
function chosenIn(answer: unknown): string | undefined {
  const { outcome } = (answer ?? {}) as {
    readonly outcome?: { readonly outcome?: unknown; readonly optionId?: unknown } | null;
  };
  return outcome?.outcome === 'selected' && typeof outcome.optionId === 'string'
    ? outcome.optionId
    : undefined;
}

async function permission(
  parts: QuestionParts,
  request: PermissionRequest,
  invocation: PermissionInvocation,
  signal: AbortSignal,
): Promise<PermissionRequestResult> {
  const { approvals } = parts;
  if (approvals.isAllowed(request, invocation)) return { kind: 'approve-once' };
  const { promptRequest } = invocation;
  const asked = { permissionRequest: request, ...(promptRequest && { promptRequest }) };
  const toolCall = callOf(parts, request, invocation);
  try {
    const choices = permissionChoices(asked, await approvals.place(parts.session()));
    const chosen = await choose(parts, { toolCall, options: choices.map(optionOf) }, signal);
    if (signal.aborted) return { kind: 'no-result' };
    return choices.find(({ scope }) => scope === chosen)?.result ?? { kind: 'user-not-available' };
  } catch (error) {
    // An editor that is there and cannot ask has nobody to say yes. When it is gone, the question stays open for the next client.
    const isRefused = error instanceof RequestError && !signal.aborted;
    return { kind: isRefused ? 'user-not-available' : 'no-result' };
  }
}

/** Editors have four kinds of options, and a picture for each. */
function optionOf({ scope, label }: PermissionChoice): PermissionOption {
  const kinds = { once: 'allow_once', deny: 'reject_once' } as const;
  const kind = scope === 'once' || scope === 'deny' ? kinds[scope] : 'allow_always';
  return { optionId: scope, kind, name: label };
}

/** The call that waits: what would happen is shown in full, a change as its diff. */
function callOf(
  { approvals, workingDirectory }: QuestionParts,
  request: PermissionRequest,
  { requestId, promptRequest }: PermissionInvocation,
): ToolCallUpdate {
  const base = { toolCallId: request.toolCallId ?? requestId, status: 'pending' } as const;
  if (promptRequest?.kind === 'path') {
    const verb = promptRequest.accessKind === 'write' ? 'Write' : 'Look';
    return {
      ...base,
      title: `${verb} outside the working directory: ${promptRequest.paths.join(', ')}`,
      locations: promptRequest.paths.map((path) => ({ path })),
    };
  }
  const title = approvals.describeRequest(request);
  if (request.kind === 'write') {
    const path = resolve(workingDirectory, request.fileName);
    const changes = changesOf(request.diff, path);
    return {
      ...base,
      title,
      kind: 'edit',
      content: changes.map(diffContent),
      locations: changes.length > 0 ? changes.map(({ line }) => ({ path, line })) : [{ path }],
    };
  }
  if (request.kind === 'read')
    return { ...base, title, kind: 'read', locations: [{ path: resolve(workingDirectory, request.path) }] };
  if (request.kind !== 'shell') return { ...base, title, kind: request.kind === 'url' ? 'fetch' : 'other' };
  const { fullCommandText, warning, possiblePaths } = request;
  const lines = [fullCommandText, ...(warning === undefined ? [] : [`Careful: ${warning}`])];
  return {
    ...base,
    title: fullCommandText,
    kind: 'execute',
    content: [textContent(lines.join('\n\n'))],
    locations: possiblePaths.map((path) => ({ path: resolve(workingDirectory, path) })),
  };
}

type PlanHandler = NonNullable<ResumeSessionOptions['onExitPlanModeRequest']>;

const actionNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    interactive: 'Approve, and ask before each change',
    autopilot: 'Approve, and work through it unasked',
    autopilot_fleet: 'Approve, and work through it with several agents',
    exit_only: 'Leave plan mode, and wait',
  }),
);

async function plan(
  parts: QuestionParts,
  { summary, planContent, actions }: Parameters<PlanHandler>[0],
  signal: AbortSignal,
): Promise<Awaited<ReturnType<PlanHandler>>> {
  const chosen = await choose(
    parts,
    {
      toolCall: {
        toolCallId: `plan-${randomUUID()}`,
        title: summary || 'The plan is ready',
        kind: 'switch_mode',
        status: 'pending',
        content: [textContent(planContent)],
      },
      options: [
        ...actions.map((action) => ({
          optionId: action,
          kind: action === 'interactive' ? ('allow_once' as const) : ('allow_always' as const),
          name: actionNames.get(action) ?? action,
        })),
        { optionId: 'keep', kind: 'reject_once', name: 'Keep planning' },
      ],
    },
    signal,
  );
  const selectedAction = actions.find((action) => action === chosen);
  return selectedAction ? { approved: true, selectedAction } : { approved: false };
}

async function otherModel(
  parts: QuestionParts,
  seconds: number | undefined,
  signal: AbortSignal,
): Promise<'yes' | 'yes_always' | 'no'> {
  const wait = seconds === undefined ? '' : ` for ${seconds} seconds`;
  const chosen = await choose(
    parts,
    {
      toolCall: {
        toolCallId: `model-${randomUUID()}`,
        title: `The model is rate limited${wait}. Go on with another one?`,
        kind: 'other',
        status: 'pending',
      },
      options: [
        { optionId: 'yes', kind: 'allow_once', name: 'Yes' },
        { optionId: 'yes_always', kind: 'allow_always', name: 'Yes, always' },
        { optionId: 'no', kind: 'reject_once', name: 'No' },
      ],
    },
    signal,
  );
  return chosen === 'yes' || chosen === 'yes_always' ? chosen : 'no';
}

async function spentLimit(
  parts: QuestionParts,
  request: SessionLimitsRequest,
  signal: AbortSignal,
): Promise<SessionLimitsAnswer> {
  const { limit = 'maxAiCredits', max = request.maxAiCredits, used = request.usedAiCredits } = request;
  const chosen = await choose(
    parts,
    {
      toolCall: {
        toolCallId: `limit-${randomUUID()}`,
        title: `The session has reached a limit: ${used} of ${max} (${limit})`,
        kind: 'other',
        status: 'pending',
      },
      options: [
        { optionId: 'add', kind: 'allow_once', name: `Allow ${max} more` },
        { optionId: 'unset', kind: 'allow_always', name: 'Go on without this limit' },
        { optionId: 'cancel', kind: 'reject_once', name: 'Stop' },
      ],
    },
    signal,
  );
  if (chosen === 'add') return { action: 'add', additional: max };
  return { action: chosen === 'unset' ? 'unset' : 'cancel' };
}

/** The field that holds the answer to a question of the agent. */
const answerField = 'answer';

async function userInput(
  parts: QuestionParts,
  {
    question,
    choices,
    allowFreeform,
  }: Parameters<NonNullable<ResumeSessionOptions['onUserInputRequest']>>[0],
  signal: AbortSignal,
): Promise<{ readonly answer: string; readonly wasFreeform: boolean }> {
  const isClosed = choices.length > 0 && !allowFreeform;
  const hint = choices.length > 0 && !isClosed ? `${choices.join(', ')}, or your own words` : undefined;
  const requestedSchema: ElicitationSchema = {
    type: 'object',
    properties: {
      [answerField]: {
        type: 'string',
        title: 'Answer',
        ...(isClosed && { enum: [...choices] }),
        ...(hint !== undefined && { description: hint }),
      },
    },
    required: [answerField],
  };
  const said = await fillIn(parts, { mode: 'form', message: question, requestedSchema }, signal);
  const answer = said.action === 'accept' ? said.content?.[answerField] : undefined;
  // The user was reached and declined: the agent must not conclude that no user is there.
  if (typeof answer !== 'string') return { answer: 'The user declined to answer.', wasFreeform: true };
  return { answer, wasFreeform: !choices.includes(answer) };
}

async function elicitation(
  parts: QuestionParts,
  request: ElicitationRequest,
  signal: AbortSignal,
): Promise<ElicitationResult> {
  const { form, url } = parts.abilities.elicitation ?? {};
  const { elicitationSource: source, mode, requestedSchema } = request;
  const message = source ? `${source}: ${request.message}` : request.message;
  if (mode === 'url') {
    if (!url) return { action: 'decline' };
    const elicitationId = randomUUID();
    return fillIn(parts, { mode, message, url: request.url ?? '', elicitationId }, signal);
  }
  if (!form) return { action: 'decline' };
  // The runtime has checked the form, whose fields are those of the editor's protocol.
  const schema = { type: 'object', ...requestedSchema } as ElicitationSchema;
  return fillIn(parts, { mode: 'form', message, requestedSchema: schema }, signal);
}

type Form =
  | { readonly mode: 'form'; readonly message: string; readonly requestedSchema: ElicitationSchema }
  | { readonly mode: 'url'; readonly message: string; readonly url: string; readonly elicitationId: string };

async function fillIn(
  { editor, session, ready }: QuestionParts,
  form: Form,
  signal: AbortSignal,
): Promise<ElicitationResult> {
  await ready();
  const params: CreateElicitationRequest = { ...form, sessionId: session()?.sessionId ?? '' };
  const waiting = { cancellationSignal: signal, stopWaitingOnCancel: true };
  const said = await editor.request(methods.client.elicitation.create, params, waiting);
  if (said.action !== 'accept') return { action: said.action === 'decline' ? 'decline' : 'cancel' };
  const { content } = said as { readonly content?: ElicitationResult['content'] | null };
  return { action: 'accept', ...(content && { content }) };
}
