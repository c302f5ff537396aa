/** Where this process was started. Throws with what to do where that is no more. */
export function startDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw new Error('The directory that this was started in is not there any more: change to another one');
  }
}
