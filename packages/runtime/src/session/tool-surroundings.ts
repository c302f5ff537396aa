import type { JobRunner } from '../exec/workers.js';
import { defaultOutputBytes, type LargeOutput } from '../tools/output.js';
import type { SessionShells } from '../tools/shell/shells.js';
import type { ToolSurroundings } from '../tools/tool.js';
import { homeOf } from '../workspace/session-directory.js';
import { spillDirectoryIn } from '../workspace/spilled-output.js';
import type { SessionSettings } from './settings.js';
import type { SessionState } from './shape.js';

/** What a session's tools find around them: its directories, and what becomes of long results. */
export function toolSurroundings(session: {
  readonly state: SessionState;
  readonly settings: SessionSettings;
  readonly sessionDirectory: string;
  readonly directories: readonly string[];
  readonly shells: SessionShells;
  readonly jobs: JobRunner;
}): ToolSurroundings {
  const { state, settings, sessionDirectory, directories, shells, jobs } = session;
  const workingDirectory = state.context.cwd;
  return {
    workingDirectory,
    sessionDirectory,
    allowedDirectories: directories,
    homeDirectory: homeOf(sessionDirectory),
    largeOutput: largeOutput(settings.largeOutput, sessionDirectory),
    shells,
    jobs,
  };
}

function largeOutput(wish: SessionSettings['largeOutput'], sessionDirectory: string): LargeOutput {
  const { enabled = true, maxSizeBytes = defaultOutputBytes, outputDir } = wish ?? {};
  return {
    isEnabled: enabled,
    maxBytes: maxSizeBytes,
    directory: outputDir || spillDirectoryIn(sessionDirectory),
    sessionDirectory,
  };
}
