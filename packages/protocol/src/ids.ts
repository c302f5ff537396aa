/** Whether a proposed session id is safe in file names, URLs and logs: letters, digits, `.`, `_`, `-`, no leading dot. */
export function isSessionId(text: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(text);
}
