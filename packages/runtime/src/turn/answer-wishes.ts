import { type AnswerStyle, sentStyle } from '@groundcrew/models';
import type { SentRequest, SessionState } from '../log/state.js';
import type { SessionSettings } from '../settings/session-settings.js';

/** How answers are to be written, and what users should know of wishes that were not sent. */
export interface AnswerWishes {
  readonly style: AnswerStyle;
  /** Each once. */
  warnings(sent: Pick<SentRequest, 'wire' | 'options'>): readonly string[];
}

/** The wishes of a session, and which of them have been warned of. */
export class SessionWishes {
  private readonly said = new Set<string>();

  of({ style }: SessionSettings, { fixed }: Pick<SessionState, 'fixed'>): AnswerWishes {
    const wished = { ...fixed.style, ...style };
    return { style: wished, warnings: (sent) => this.warnings(wished, sent) };
  }

  private warnings(
    style: AnswerStyle,
    { wire, options }: Pick<SentRequest, 'wire' | 'options'>,
  ): readonly string[] {
    const model = String(options.model);
    const sent = sentStyle(wire, model, style);
    const unsent = (['verbosity', 'reasoningSummary'] as const).filter(
      (name) => style[name] !== undefined && sent[name] === undefined,
    );
    return unsent
      .map(
        (name) =>
          `The option '${name}' has no effect on the model ${model}: its service, called by ${wire}, has no such field or the model does not take it.`,
      )
      .filter((message) => !this.said.has(message) && this.said.add(message));
  }
}
