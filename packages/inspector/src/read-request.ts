/** The request of a model call as its service received it, or why there is none: by an event of the call, or `last`. */
export async function readRequest(sessionId: string, call: string, signal: AbortSignal): Promise<string> {
  const place = `session=${encodeURIComponent(sessionId)}&turn=${encodeURIComponent(call)}`;
  const answer = await fetch(`/requests?${place}`, { signal });
  return answer.text();
}
