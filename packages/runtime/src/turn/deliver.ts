import type { EventData, JsonObject, SessionMode } from '@groundcrew/protocol';
import { ruleWarning } from '../gate/call-permissions.js';
import { remindersOf, submitPrompt } from '../hooks/submitted-prompt.js';
import type { Draft } from '../log/session-log.js';
import type { Prompt } from '../log/state.js';
import { imageWarnings } from '../prompt/image-limits.js';
import type { FormattedPrompt } from '../prompt/user-message.js';
import type { AgentContext, ReceivedPrompt } from './agent-context.js';
import { formatWithHooks, transformPrompt } from './prompt-hooks.js';

/** Makes a prompt a message of the conversation; it starts an interaction. Joins the next commit. */
export async function deliver(
  prompt: Prompt,
  { delivery, signal }: { readonly delivery: 'idle' | 'queued'; readonly signal: AbortSignal },
  context: AgentContext,
): Promise<void> {
  const { log, planner, session, interaction } = context;
  const { messageId, output } = prompt;
  if (prompt.isBare)
    return void log.append({ note: 'prompt.taken', data: { messageId, interactionId: interaction.id } });
  const messages: { readonly shown: Prompt; readonly drafts: readonly Draft[] }[] = [];
  for (const each of withEarlier(prompt)) messages.push(await messageOf(each, { delivery, signal }, context));
  log.append(
    ...openingModel(context),
    ...opening(messages[0]?.shown ?? prompt, context),
    ...planner.optionWarnings(),
    ...ruleWarning({ warning: session.ruleWarning }),
    ...hookWarning(session.hookWarning()),
    ...receiptOf(prompt, delivery),
    ...messages.flatMap(({ drafts }) => drafts),
    ...(output
      ? [{ note: 'output.wanted' as const, data: { ...output, interactionId: interaction.id } }]
      : []),
  );
}

/** All that was sent together: a turn reads the last one, and what came with it before that. */
function withEarlier(prompt: Prompt): readonly Prompt[] {
  const { mode, agentMode, earlier = [] } = prompt;
  const shared = { mode, ...(agentMode !== undefined && { agentMode }) };
  return [...earlier.map((each) => ({ ...each, ...shared })), prompt];
}

/** A prompt as a message of the conversation, after hooks have seen it. */
async function messageOf(
  prompt: Prompt,
  { delivery, signal }: { readonly delivery: 'idle' | 'queued'; readonly signal: AbortSignal },
  context: AgentContext,
): Promise<{ readonly shown: Prompt; readonly drafts: readonly Draft[] }> {
  const { log, planner, session, hooks, interaction } = context;
  const { canSeeImages, documents, images } = planner.view();
  const submitted = await submitPrompt(hooks, prompt.text, signal);
  interaction.promptText = submitted.text;
  const shown = afterHooks(prompt, submitted.text);
  const formatted = await formatWithHooks(submitted, prompt.attachments ?? [], {
    hooks,
    signal,
    now: session.clock.now(),
    workingDirectory: log.session.context.cwd,
    canSeeImages,
    documents,
    isPlanning: log.session.mode === 'plan' && log.agentId === undefined,
    notice: planner.noticeOfTools(namedMode(prompt)),
  });
  const message: Draft = {
    type: 'user.message',
    data: {
      delivery,
      turnId: '0',
      ...messageData(shown, context),
      transformedContent: formatted.text,
      supportedNativeDocumentMimeTypes: [...documents],
      ...attachmentsOf(formatted),
    },
  };
  const warnings = imageWarnings(formatted.parts, images).map(imageWarning);
  return { shown, drafts: [...verbatim(prompt, formatted), message, ...warnings] };
}

/** What a session says once, at its first prompt. */
function opening(prompt: Prompt, { log, planner }: AgentContext): Draft[] {
  if (log.session.userTurns > 0 || log.agentId !== undefined) return [];
  const { hiddenTools, warnings } = planner.report();
  const message = `Disabled tools: ${hiddenTools.join(', ')}`;
  const title = prompt.displayText ?? prompt.text;
  return [
    ...warnings.map(
      (text): Draft => ({ type: 'session.warning', data: { warningType: 'configuration', message: text } }),
    ),
    ...(log.session.fixed.name === undefined
      ? [{ type: 'session.title_changed' as const, data: { title } }]
      : []),
    ...(hiddenTools.length > 0
      ? [
          {
            type: 'session.info' as const,
            ephemeral: true as const,
            data: { infoType: 'configuration', message },
          },
        ]
      : []),
    { type: 'session.tools_updated', data: { model: planner.model() } },
  ];
}

/** Adds prompts that may not wait to the running turn, bare. Those that a stopped turn has not taken up wait again. */
export async function deliverSteering(context: AgentContext, signal: AbortSignal): Promise<void> {
  const { inbox } = context;
  context.log.append(...(inbox.takeNotices?.() ?? []));
  const waiting = [...(await inbox.takeSteering())];
  try {
    for (let next = waiting[0]; next; next = waiting[0]) {
      await deliverAside(next, context, signal);
      waiting.shift();
    }
  } finally {
    inbox.putBack(waiting);
  }
}

async function deliverAside(
  { prompt, extras }: ReceivedPrompt,
  context: AgentContext,
  signal: AbortSignal,
): Promise<void> {
  const { log, interaction, planner } = context;
  const drafts: Draft[] = [];
  for (const each of withEarlier(prompt)) drafts.push(...(await asideOf(each, context, signal)));
  if (extras.requestHeaders) interaction.join(extras.requestHeaders);
  log.append(...planner.optionWarnings(), ...drafts);
  if (prompt.output)
    log.append({ note: 'output.wanted', data: { ...prompt.output, interactionId: interaction.id } });
  log.emit({ type: 'pending_messages.modified', data: {} });
}

async function asideOf(
  prompt: Prompt,
  context: AgentContext,
  signal: AbortSignal,
): Promise<readonly Draft[]> {
  const { hooks, interaction } = context;
  const submitted = await submitPrompt(hooks, prompt.text, signal);
  const formatted = await formatAside(submitted, prompt.attachments ?? [], { context, signal });
  const shown = messageData(afterHooks(prompt, submitted.text), context);
  const message: Draft = {
    type: 'user.message',
    data: {
      delivery: 'steering',
      turnId: interaction.turnId,
      ...shown,
      ...(formatted.text !== shown.content && { transformedContent: formatted.text }),
      ...attachmentsOf(formatted),
    },
  };
  return [...verbatim(prompt, formatted), message];
}

/** A word into a running turn goes bare, with what is attached to it. */
async function formatAside(
  submitted: Awaited<ReturnType<typeof submitPrompt>>,
  attachments: readonly JsonObject[],
  { context, signal }: { readonly context: AgentContext; readonly signal: AbortSignal },
): Promise<Pick<FormattedPrompt, 'text' | 'parts' | 'attachments'>> {
  const { hooks, log, planner } = context;
  if (attachments.length === 0) {
    const { text, contexts } = submitted;
    const transformed = await transformPrompt(text, text + remindersOf(contexts), { hooks, signal });
    return { text: transformed, parts: [], attachments: [] };
  }
  return formatWithHooks(submitted, attachments, {
    hooks,
    signal,
    workingDirectory: log.session.context.cwd,
    canSeeImages: planner.view().canSeeImages,
    documents: planner.view().documents,
    isPlanning: false,
    notice: '',
  });
}

/** Images and documents are no part of the event's text. */
function verbatim(
  { messageId }: Prompt,
  { text, parts }: Pick<FormattedPrompt, 'text' | 'parts'>,
): readonly Draft[] {
  return parts.length === 0 ? [] : [{ note: 'verbatim', data: { id: messageId, text, parts } }];
}

function attachmentsOf({ attachments }: Pick<FormattedPrompt, 'attachments'>) {
  if (attachments.length === 0) return {};
  return { attachments: attachments as EventData<'user.message'>['attachments'] };
}

/** What hooks made of a prompt is what clients see of it, too. */
function afterHooks(prompt: Prompt, text: string): Prompt {
  return text === prompt.text ? prompt : { ...prompt, text, displayText: text };
}

function messageData(prompt: Prompt, { interaction }: AgentContext): EventData<'user.message'> {
  return {
    content: prompt.displayText ?? prompt.text,
    interactionId: interaction.id,
    messageId: prompt.messageId,
    ...(prompt.agentMode !== undefined && {
      agentMode: prompt.agentMode as EventData<'user.message'>['agentMode'],
    }),
    ...(prompt.isContinuation && { isAutopilotContinuation: true }),
    ...(prompt.source !== undefined && { source: prompt.source }),
  };
}

/** The mode that the sender named; `shell` is none that a model works in. */
function namedMode({ agentMode }: Prompt): SessionMode | undefined {
  return sessionModes.find((mode) => mode === agentMode);
}

const sessionModes = ['interactive', 'plan', 'autopilot'] as const;

/** A prompt that waited has its receipt already. */
function receiptOf({ messageId, digest }: Prompt, delivery: 'idle' | 'queued'): Draft[] {
  if (digest === undefined || delivery === 'queued') return [];
  return [{ note: 'prompt.received', data: { messageId, digest } }];
}

/** The first turn says which model it begins with, when no client had named one. */
function openingModel({ log, planner }: AgentContext): Draft[] {
  if (log.session.model !== undefined || log.agentId !== undefined) return [];
  return [{ type: 'session.model_change', data: { newModel: planner.model(), source: 'startup' } }];
}

/** Users learn that the model does not see all that they attached. */
function imageWarning(message: string): Draft {
  return { type: 'session.warning', data: { warningType: 'attachment', message } };
}

/** Users learn at once that hooks they rely on cannot be read. */
function hookWarning(message: string | undefined): Draft[] {
  if (message === undefined) return [];
  return [{ type: 'session.warning', data: { warningType: 'hooks', message } }];
}
