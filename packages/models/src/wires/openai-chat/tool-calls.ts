import { ModelError } from '../../errors.js';
import { countOrNothing, isObject, property, textOrNothing } from '../../json.js';
import type { ModelEvent, ToolCall } from '../../model.js';
import { CallIds } from '../call-ids.js';

interface OpenCall {
  /** The id as the service gave it. */
  given: string | undefined;
  /** The id as it was emitted. */
  id: string | undefined;
  name: string | undefined;
  argumentsText: string;
  /** Arguments that came before the call's name, and were not emitted yet. */
  held: string;
}

/** A piece of a call, and where in the answer it stood. */
export interface CallPiece {
  readonly piece: Readonly<Record<string, unknown>>;
  readonly choice: number;
  readonly position: number;
  /** False for a whole answer, whose calls are emitted only once. */
  readonly streamed: boolean;
}

/** The tool calls of one answer, put together from their pieces, each under an id of its own. */
export class ToolCalls {
  readonly #ids: CallIds;
  readonly #inOrder: OpenCall[] = [];
  readonly #bySlot = new Map<string, OpenCall>();
  #lastSlot = '';

  constructor(newId: () => string) {
    this.#ids = new CallIds(newId);
  }

  add(at: CallPiece, events: ModelEvent[]): void {
    const given = textOrNothing(at.piece.id);
    const call = this.#find(this.#slotOf(at, given), given);
    call.given ??= given;
    call.name ??= textOrNothing(property(at.piece.function, 'name'));
    const written = readArguments(property(at.piece.function, 'arguments'));
    call.argumentsText += written;
    if (!at.streamed) return;
    const delta = call.held + written;
    call.held = call.name === undefined ? delta : '';
    if (call.name === undefined || delta === '') return;
    events.push({ type: 'tool_call_delta', callId: this.#idOf(call), name: call.name, delta });
  }

  /** All calls, in the order in which they began. */
  finish(): readonly ToolCall[] {
    return this.#inOrder.map((call) => {
      if (call.name === undefined)
        throw new ModelError('bad_response', 'The answer calls a tool without a name');
      return { callId: this.#idOf(call), name: call.name, argumentsText: call.argumentsText };
    });
  }

  /** Pieces belong together by number; without one by id; without either they go on with the last call. */
  #slotOf({ piece, choice, position, streamed }: CallPiece, given: string | undefined): string {
    if (!streamed) return `${choice}.${position}`;
    const index = countOrNothing(piece.index);
    if (index !== undefined) return `${choice}.${index}`;
    if (given !== undefined) return `${choice}#${given}`;
    const begins = textOrNothing(property(piece.function, 'name')) !== undefined;
    return begins ? `${choice}+${this.#inOrder.length}` : this.#lastSlot;
  }

  /** Some services number all their calls 0: a new id begins a new call. */
  #find(slot: string, given: string | undefined): OpenCall {
    this.#lastSlot = slot;
    const found = this.#bySlot.get(slot);
    if (found && (given === undefined || found.given === undefined || found.given === given)) return found;
    const call: OpenCall = { given, id: undefined, name: undefined, argumentsText: '', held: '' };
    this.#bySlot.set(slot, call);
    this.#inOrder.push(call);
    return call;
  }

  /** An id that comes too late finds the call with one of our own. */
  #idOf(call: OpenCall): string {
    call.id ??= this.#ids.take(call.given);
    return call.id;
  }
}

function readArguments(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  if (isObject(value)) return JSON.stringify(value);
  throw new ModelError('bad_response', 'The answer calls a tool with arguments that are no text');
}
