/** Has the root agent split a request up among agents of its own. */
export function fleetPrompt(request: string): string {
  return `Work as the lead of a fleet: split the request below into parts, and have sub-agents (tool \`task\`) do them side by side.

1. Look for open todos: \`SELECT id, title, status FROM todos WHERE status != 'done'\`. Without any, write the parts as todos first, with as few dependencies as can be (\`todo_deps\`).
2. Begin agents for all parts that wait for nothing, several in one message. A part that stands alone is done with mode \`sync\`.
3. Tell each agent in its prompt to set its todo to 'done', or to 'blocked' with the reason, and to end with a summary.
4. When agents have ended, look at the todos, not at their words. Check what they did, begin what waited for them, and repair what is missing.

Small requests need no fleet: do them yourself.

User request: ${request}`;
}
