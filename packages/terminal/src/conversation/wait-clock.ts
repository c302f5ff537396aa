import type { SessionEvent, TranscriptWait } from '@groundcrew/sdk';

/** Since when a session waits for what it waits for: since the call began, or the model got its turn, and nobody was asked any more. */
export class WaitClock {
  private readonly calls = new Map<string, number>();
  private modelSince = 0;
  private answeredAt = 0;

  /** Takes in an event of that time; without one, of the time that the event says. */
  note(event: SessionEvent, time?: number): void {
    if (event.agentId !== undefined || !isCounted(event.type)) return;
    const at = time ?? Date.parse(event.timestamp);
    if (event.type === 'tool.execution_start' || event.type === 'tool.user_requested')
      this.calls.set(event.data.toolCallId, at);
    else if (answers.test(event.type)) this.answeredAt = at;
    else {
      if (event.type === 'tool.execution_complete') this.calls.delete(event.data.toolCallId);
      this.modelSince = at;
    }
  }

  /** For how many whole seconds it has waited. */
  seconds(wait: TranscriptWait | undefined, now: number): number {
    if (!wait) return 0;
    const began = wait.type === 'tool' ? (this.calls.get(wait.toolCallId) ?? now) : this.modelSince;
    const since = Math.max(began, this.answeredAt);
    return Math.max(0, Math.floor((now - since) / 1000));
  }
}

const counted: ReadonlySet<string> = new Set([
  'user.message',
  'assistant.turn_start',
  'assistant.message',
  'tool.user_requested',
  'tool.execution_start',
  'tool.execution_complete',
]);

const answers =
  /^(?:permission|user_input|elicitation|auto_mode_switch|exit_plan_mode|session_limits_exhausted)\.completed$/;

function isCounted(type: string): boolean {
  return counted.has(type) || answers.test(type);
}
