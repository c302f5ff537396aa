import type { ModelRequest } from '@groundcrew/models';
import { viewOf } from '../log/history-view.js';
import type { Draft } from '../log/session-log.js';
import type { AnswerFormat, SentRequest } from '../log/state.js';
import type { Allowance, ModelCallRequest } from '../model-call/call-request.js';
import type { AgentContext, ModelPlan } from './agent-context.js';
import { measureContext } from './context-use.js';
import { outputRemark } from './structured-output.js';

/** The call of a turn: the conversation so far. */
export function callRequestOf(context: AgentContext, plan: ModelPlan): ModelCallRequest {
  const { interaction, log } = context;
  const { provider, model, info, streaming, reasoningEffort } = plan;
  return {
    provider,
    model,
    info,
    streaming,
    ...(reasoningEffort !== undefined && { reasoningEffort }),
    initiator: interaction.initiator,
    estimate: () => measureContext(log.latest, plan, interaction.view).currentTokens,
    modelRequest: (allowance) => makeRequest(context, plan, allowance),
    countBytes: (bytes) => interaction.countBytes(bytes),
  };
}

/** The next call to the model, made from what the log adds up to. */
function makeRequest(
  context: AgentContext,
  plan: ModelPlan,
  { maxOutputTokens, remark }: Allowance,
): ModelRequest {
  const { interaction, planner, session, log, window } = context;
  const { requestHeaders, trace } = interaction.options;
  const { history, output } = log.latest;
  const cut = interaction.view ?? log.latest.view;
  const view = { ...planner.view(), model: plan.model };
  return {
    model: plan.model,
    system: plan.system,
    messages: window.memory.use().read(viewOf(history, cut, plan.model), view),
    tools: plan.toolset.tools,
    stream: plan.streaming,
    ...(plan.reasoningEffort !== undefined && { reasoningEffort: plan.reasoningEffort }),
    ...plan.answerStyle.style,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...remarksOf(remark, output),
    ...(output && interaction.usesOutputFormat && { output: { name: output.name, schema: output.schema } }),
    ...(plan.citations && { citations: true }),
    headers: { ...requestHeaders?.values, ...trace },
    ...(requestHeaders?.strategy === 'override' && { replacesHeaders: true }),
    origin: {
      sessionId: session.sessionId,
      interactionId: interaction.id,
      clientName: session.clientName,
      initiator: interaction.initiator,
      interactionType:
        log.agentId === undefined ? `conversation-${interaction.initiator}` : 'conversation-subagent',
      ...(log.agentId !== undefined && {
        agentId: log.agentId,
        parentAgentId: log.session.tasks[log.agentId]?.parentAgentId ?? session.sessionId,
      }),
    },
    sent: recorder(context, { view, tools: plan.toolset.offer.digest, ...(cut && { cut }) }),
  };
}

/** What the model reads of its limits, and of the form that is wanted. */
function remarksOf(
  remark: string | undefined,
  output: AnswerFormat | undefined,
): Pick<ModelRequest, 'remark'> {
  const remarks = [remark, output && outputRemark(output)].filter((each) => each !== undefined);
  return remarks.length === 0 ? {} : { remark: remarks.join('\n\n') };
}

/** Keeps how a request goes out, for the log. */
function recorder(
  { interaction, log }: AgentContext,
  what: Pick<SentRequest, 'view' | 'tools' | 'cut'>,
): NonNullable<ModelRequest['sent']> {
  const atSeq = log.latestSeq;
  return (wire, served) => {
    interaction.sent = { atSeq, wire, ...what, options: optionsOf(served) };
  };
}

/** What the log does not say otherwise, and no headers: they may be secret. */
function optionsOf(request: ModelRequest): SentRequest['options'] {
  const { system: _s, messages: _m, tools: _t, headers: _h, sent: _c, ...options } = request;
  return options;
}

/** What the log keeps of the newest request: how it went out, and its tools where they are new. */
export function sentDrafts(
  { interaction, log }: AgentContext,
  { toolset, answerStyle }: ModelPlan,
): readonly Draft[] {
  const { sent } = interaction;
  interaction.sent = undefined;
  if (!sent) return [];
  const isKnown = log.latest.offered?.includes(sent.tools) ?? false;
  return [
    ...(isKnown ? [] : [{ note: 'tools.offered' as const, data: toolset.offer }]),
    { note: 'request.sent', data: sent },
    ...answerStyle.warnings(sent).map(configurationWarning),
  ];
}

function configurationWarning(message: string): Draft {
  return { type: 'session.warning', data: { warningType: 'configuration', message } };
}
