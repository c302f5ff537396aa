/** A length of time, short. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1000)} s`;
}

/** US dollars, with as many digits as say something. */
export function money(dollars: number): string {
  return `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;
}

/** A number of tokens, short. */
export function count(number: number): string {
  if (number < 1000) return String(number);
  return number < 1_000_000 ? `${(number / 1000).toFixed(1)}k` : `${(number / 1_000_000).toFixed(2)}M`;
}

/** How long ago. */
export function ago(date: Date): string {
  const seconds = Math.max(0, (Date.now() - date.getTime()) / 1000);
  if (seconds < 60) return 'now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** A time of the day. */
export function clock(at: number | string): string {
  return new Date(at).toLocaleTimeString([], { hour12: false });
}
