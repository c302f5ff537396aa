import type { EventData } from '@groundcrew/protocol';
import { formatPrompt } from '../prompt/user-message.js';
import type { Draft } from '../session/log.js';
import type { Prompt } from '../session/shape.js';
import type { LoopContext } from './context.js';

/** Makes a prompt a message of the conversation; it starts an interaction. Joins the next commit. */
export async function deliver(
  prompt: Prompt,
  delivery: 'idle' | 'queued',
  context: LoopContext,
): Promise<void> {
  const { log } = context;
  const formatted = await formatPrompt(prompt.text, prompt.attachments ?? [], {
    now: context.clock.now(),
    workingDirectory: context.workingDirectory,
    canSeeImages: context.canSeeImages(),
    documents: context.documents(),
    isPlanning: log.state.mode === 'plan',
    notice: context.noticeOfTools(),
  });
  const verbatim: Draft[] =
    formatted.parts.length === 0
      ? []
      : [{ note: 'verbatim', data: { id: prompt.messageId, text: formatted.text, parts: formatted.parts } }];
  log.append(
    ...openingModel(context),
    ...context.optionWarnings(),
    ...opening(prompt, context),
    ...troubleWithRules(context),
    ...receiptOf(prompt, delivery),
    ...verbatim,
    {
      type: 'user.message',
      data: {
        delivery,
        turnId: '0',
        ...messageData(prompt, context),
        transformedContent: formatted.text,
        supportedNativeDocumentMimeTypes: [...context.documents()],
        ...(formatted.attachments.length > 0 && {
          attachments: formatted.attachments as EventData<'user.message'>['attachments'],
        }),
      },
    },
  );
}

/** People hear at once that rules they rely on cannot be read. */
export function troubleWithRules({ trouble }: LoopContext): Draft[] {
  const message = trouble();
  if (message === undefined) return [];
  return [{ type: 'session.warning', data: { warningType: 'permissions', message } }];
}

/** What a session says once, at its first prompt. */
function opening(prompt: Prompt, { log, model, oddities }: LoopContext): Draft[] {
  if (log.state.userTurns > 0) return [];
  const { hiddenTools, warnings } = oddities();
  const message = `Disabled tools: ${hiddenTools.join(', ')}`;
  const title = prompt.displayText ?? prompt.text;
  return [
    ...warnings.map(
      (text): Draft => ({ type: 'session.warning', data: { warningType: 'configuration', message: text } }),
    ),
    ...(log.state.fixed.name === undefined
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
    { type: 'session.tools_updated', data: { model: model() } },
  ];
}

/** Adds prompts that may not wait to the running turn, bare. */
export async function deliverSteering(context: LoopContext): Promise<void> {
  for (const prompt of await context.inbox.takeSteering()) {
    const requestHeaders = context.headersOf(prompt);
    if (requestHeaders) context.interaction.join(requestHeaders);
    context.log.append(...context.optionWarnings(), {
      type: 'user.message',
      data: { delivery: 'steering', turnId: context.interaction.turnId, ...messageData(prompt, context) },
    });
    context.log.emit({ type: 'pending_messages.modified', data: {} });
  }
}

function messageData(prompt: Prompt, { interaction }: LoopContext): EventData<'user.message'> {
  return {
    content: prompt.displayText ?? prompt.text,
    interactionId: interaction.id,
    messageId: prompt.messageId,
    ...(prompt.agentMode !== undefined && {
      agentMode: prompt.agentMode as EventData<'user.message'>['agentMode'],
    }),
    ...(prompt.source !== undefined && { source: prompt.source }),
  };
}

/** A prompt that waited has its receipt already. */
function receiptOf({ messageId, digest }: Prompt, delivery: 'idle' | 'queued'): Draft[] {
  if (digest === undefined || delivery === 'queued') return [];
  return [{ note: 'prompt.received', data: { messageId, digest } }];
}

/** The first turn says which model it begins with, when nobody had named one. */
function openingModel({ log, model }: LoopContext): Draft[] {
  if (log.state.model !== undefined) return [];
  return [{ type: 'session.model_change', data: { newModel: model(), source: 'startup' } }];
}
