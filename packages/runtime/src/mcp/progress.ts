import type { Progress } from '@modelcontextprotocol/client';

const longestProgress = 16 * 1024;

/** All that was said of the progress so far, as clients get it. */
export function progressReporter(report: (output: string) => void): (progress: Progress) => void {
  let output = '';
  return ({ progress, total, message }) => {
    const share = total === undefined ? String(progress) : `${progress}/${total}`;
    output = `${output}${message ?? share}\n`.slice(-longestProgress);
    report(output);
  };
}
