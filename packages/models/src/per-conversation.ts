import type { ModelRequest } from './model.js';

/**
 * One of something for each conversation, for as long as the conversation lives. Calls belong to the same one when
 * their first message is the same object; a call without messages stands alone.
 */
export class PerConversation<T> {
  private readonly known = new WeakMap<object, T>();

  constructor(private readonly make: () => T) {}

  of({ messages: [first] }: Pick<ModelRequest, 'messages'>): T {
    if (!first) return this.make();
    const before = this.known.get(first);
    if (before !== undefined) return before;
    const made = this.make();
    this.known.set(first, made);
    return made;
  }
}
