/** Milliseconds on a clock that only goes forward. The `performance` global would be loaded for it. */
export function monotonic(): number {
  return process.uptime() * 1000;
}
