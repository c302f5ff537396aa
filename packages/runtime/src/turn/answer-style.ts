import { type AnswerStyle, sentStyle } from '@groundcrew/models';
import type { SentRequest, SessionState } from '../log/state.js';
import type { SessionSettings } from '../settings/session-settings.js';

/** How answers are to be written (verbosity, summaries of thoughts), and what users should know of what was not sent. */
export interface WantedStyle {
  readonly style: AnswerStyle;
  /** Each is returned once. */
  warnings(sent: Pick<SentRequest, 'wire' | 'options'>): readonly string[];
}

/** The style that a session wants, by its settings and those of its client, and which warnings were given. */
export class WantedStyles {
  private readonly warned = new Set<string>();

  of({ style }: SessionSettings, { fixed }: Pick<SessionState, 'fixed'>): WantedStyle {
    const wanted = { ...fixed.style, ...style };
    return { style: wanted, warnings: (sent) => this.warnings(wanted, sent) };
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
      .filter((message) => !this.warned.has(message) && this.warned.add(message));
  }
}
