/** Whether work ends before the time does; rejects with the signal's reason when that comes first. */
export function endsWithin(
  work: Promise<void>,
  milliseconds: number,
  signal: AbortSignal,
): Promise<'done' | 'late'> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    const abort = () => {
      stop();
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      stop();
      resolve('late');
    }, milliseconds);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    void work.then(() => {
      stop();
      resolve('done');
    });
  });
}
