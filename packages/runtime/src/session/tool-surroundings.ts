import type { JsonObject } from '@groundcrew/protocol';
import { defaultOutputBytes, type LargeOutput } from '../tools/output.js';
import type { SessionShells } from '../tools/shell/shells.js';
import type { ToolSurroundings } from '../tools/tool.js';
import { homeOf } from '../workspace/session-directory.js';
import { spillDirectoryIn } from '../workspace/spilled-output.js';
import type { SessionSandbox } from './session-sandbox.js';
import type { SessionSettings } from './settings.js';
import type { SessionState } from './shape.js';

/** What a session's tools find around them: its directories, and what becomes of long results. */
export function toolSurroundings(session: {
  readonly state: SessionState;
  readonly settings: SessionSettings;
  readonly sessionDirectory: string;
  readonly directories: readonly string[];
  readonly shells: SessionShells;
  readonly sandbox: SessionSandbox;
}): ToolSurroundings {
  const { state, settings, sessionDirectory, directories, shells, sandbox } = session;
  const workingDirectory = state.context.cwd;
  return {
    workingDirectory,
    sessionDirectory,
    allowedDirectories: directories,
    homeDirectory: homeOf(sessionDirectory),
    largeOutput: largeOutput(settings.other.largeOutput, sessionDirectory),
    shells,
    confinement: () => sandbox.confinement(),
    openPaths: () => sandbox.openPaths(),
  };
}

function largeOutput(wish: JsonObject[string] | undefined, sessionDirectory: string): LargeOutput {
  const { enabled, maxSizeBytes, outputDir } = (wish ?? {}) as Readonly<Record<string, unknown>>;
  return {
    isEnabled: enabled !== false,
    maxBytes: typeof maxSizeBytes === 'number' ? maxSizeBytes : defaultOutputBytes,
    directory:
      typeof outputDir === 'string' && outputDir !== '' ? outputDir : spillDirectoryIn(sessionDirectory),
    sessionDirectory,
  };
}
