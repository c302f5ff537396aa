import { TestingError } from './errors.js';
import { isCi, type Recording, type RecordOptions, record } from './recorder.js';
import { type Replay, type ReplayOptions, replay } from './replayer.js';

/** What a cassette needs to be recorded and played back. */
export interface CassetteOptions extends RecordOptions, ReplayOptions {}

/** A cassette in use; while it is recorded there is nothing to verify. */
export type UsedCassette = Pick<Recording | Replay, 'baseUrl' | 'problems' | 'close'> &
  AsyncDisposable & { verify(): void };

/** Plays the cassette back; records it instead where `GROUNDCREW_RECORD` is set, which CI never does. */
export async function useCassette(options: CassetteOptions): Promise<UsedCassette> {
  const { GROUNDCREW_RECORD } = process.env;
  if (!GROUNDCREW_RECORD || isCi()) return replay(options);
  const recording = await record(options);
  const verify = () => {
    if (recording.problems.length > 0)
      throw new TestingError('not_as_expected', recording.problems.join('\n'));
  };
  return { ...recording, verify };
}
