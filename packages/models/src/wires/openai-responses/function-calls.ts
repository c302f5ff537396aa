import { ModelError } from '../../errors.js';
import { isObject, textOrNothing } from '../../json.js';
import type { ModelEvent, ToolCall } from '../../model.js';
import { CallIds } from '../call-ids.js';
import type { Frame } from '../frames.js';

interface OpenCall {
  id: string | undefined;
  name: string | undefined;
  argumentsText: string;
  /** Arguments that came before the call's name, and were not emitted yet. */
  held: string;
}

/** The calls of one answer, each put together from its pieces or taken whole. */
export class FunctionCalls {
  readonly #ids: CallIds;
  readonly #byIndex = new Map<number, OpenCall>();

  constructor(newId: () => string) {
    this.#ids = new CallIds(newId);
  }

  get count(): number {
    return this.#byIndex.size;
  }

  /** A call is announced; what was written of it before is emitted now. */
  begin(index: number, item: Frame, events: ModelEvent[]): void {
    const call = this.#callAt(index);
    if (call.name !== undefined) return;
    call.name = textOrNothing(item.name);
    call.id ??= this.#ids.take(textOrNothing(item.call_id) ?? textOrNothing(item.id));
    this.#emit(call, call.held, events);
    call.held = '';
  }

  write(index: number, delta: string, events: ModelEvent[]): void {
    const call = this.#callAt(index);
    call.argumentsText += delta;
    if (call.name === undefined) call.held += delta;
    else this.#emit(call, delta, events);
  }

  /** The whole call. One that came without pieces emits none. */
  complete(index: number, item: Frame, events: ModelEvent[]): void {
    this.begin(index, item, events);
    const call = this.#callAt(index);
    const whole = argumentsOf(item.arguments);
    const written = call.argumentsText;
    if (!whole.startsWith(written)) return;
    call.argumentsText = whole;
    if (written !== '') this.#emit(call, whole.slice(written.length), events);
  }

  /** All calls, in the order in which they began. */
  finish(): readonly ToolCall[] {
    return [...this.#byIndex.values()].map(({ id, name, argumentsText }) => {
      if (id === undefined || name === undefined)
        throw new ModelError('bad_response', 'The answer calls a tool without a name');
      return { callId: id, name, argumentsText };
    });
  }

  #emit({ id, name }: OpenCall, delta: string, events: ModelEvent[]): void {
    if (id === undefined || name === undefined || delta === '') return;
    events.push({ type: 'tool_call_delta', callId: id, name, delta });
  }

  #callAt(index: number): OpenCall {
    const found = this.#byIndex.get(index);
    if (found) return found;
    const call: OpenCall = { id: undefined, name: undefined, argumentsText: '', held: '' };
    this.#byIndex.set(index, call);
    return call;
  }
}

function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return isObject(value) ? JSON.stringify(value) : '';
}
