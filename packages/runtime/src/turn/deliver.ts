import type { EventData, SessionMode } from '@groundcrew/protocol';
import { ruleWarning } from '../gate/permission-desk.js';
import { remindersOf, submitPrompt } from '../hooks/submitted-prompt.js';
import type { Draft } from '../log/session-log.js';
import type { Prompt } from '../log/state.js';
import type { AgentContext, ReceivedPrompt } from './context.js';
import { formatWithHooks, transformPrompt } from './prompt-hooks.js';

/** Makes a prompt a message of the conversation; it starts an interaction. Joins the next commit. */
export async function deliver(
  prompt: Prompt,
  { delivery, signal }: { readonly delivery: 'idle' | 'queued'; readonly signal: AbortSignal },
  context: AgentContext,
): Promise<void> {
  const { log, planner, session, hooks, interaction } = context;
  const { output } = prompt;
  const documents = planner.documents();
  const submitted = await submitPrompt(hooks, prompt.text, signal);
  interaction.promptText = submitted.text;
  const shown = afterHooks(prompt, submitted.text);
  const formatted = await formatWithHooks(submitted, prompt.attachments ?? [], {
    hooks,
    signal,
    now: session.clock.now(),
    workingDirectory: log.session.context.cwd,
    canSeeImages: planner.canSeeImages(),
    documents,
    isPlanning: log.session.mode === 'plan' && log.agentId === undefined,
    notice: planner.noticeOfTools(namedMode(prompt)),
  });
  const verbatim: Draft[] =
    formatted.parts.length === 0
      ? []
      : [{ note: 'verbatim', data: { id: prompt.messageId, text: formatted.text, parts: formatted.parts } }];
  log.append(
    ...openingModel(context),
    ...opening(shown, context),
    ...planner.optionWarnings(),
    ...ruleWarning({ warning: session.ruleWarning }),
    ...hookWarning(session.hookWarning()),
    ...receiptOf(prompt, delivery),
    ...verbatim,
    {
      type: 'user.message',
      data: {
        delivery,
        turnId: '0',
        ...messageData(shown, context),
        transformedContent: formatted.text,
        supportedNativeDocumentMimeTypes: [...documents],
        ...(formatted.attachments.length > 0 && {
          attachments: formatted.attachments as EventData<'user.message'>['attachments'],
        }),
      },
    },
    ...(output
      ? [{ note: 'output.wanted' as const, data: { ...output, interactionId: interaction.id } }]
      : []),
  );
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
  const { hooks, log, interaction, planner } = context;
  const { text, contexts } = await submitPrompt(hooks, prompt.text, signal);
  const transformed = await transformPrompt(text, text + remindersOf(contexts), { hooks, signal });
  if (extras.requestHeaders) interaction.join(extras.requestHeaders);
  log.append(...planner.optionWarnings(), {
    type: 'user.message',
    data: {
      delivery: 'steering',
      turnId: interaction.turnId,
      ...messageData(afterHooks(prompt, text), context),
      ...(transformed !== text && { transformedContent: transformed }),
    },
  });
  if (prompt.output)
    log.append({ note: 'output.wanted', data: { ...prompt.output, interactionId: interaction.id } });
  log.emit({ type: 'pending_messages.modified', data: {} });
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

/** Users learn at once that hooks they rely on cannot be read. */
function hookWarning(message: string | undefined): Draft[] {
  if (message === undefined) return [];
  return [{ type: 'session.warning', data: { warningType: 'hooks', message } }];
}
