import type { JobRunner } from '../exec/workers.js';
import type { SessionState } from '../log/state.js';
import type { SessionSettings } from '../settings/session-settings.js';
import type { Company } from '../tools/builtin.js';
import { externalTool } from '../tools/external.js';
import { defaultOutputBytes, type LargeOutput } from '../tools/output.js';
import type { SessionShells } from '../tools/shell/shells.js';
import type { Tool, ToolSurroundings } from '../tools/tool.js';
import { ListedTools } from '../tools/tool-source.js';
import { homeOf } from '../workspace/session-directory.js';
import { spillDirectoryIn } from '../workspace/spilled-output.js';
import type { Audience } from './audience.js';
import type { SessionSandbox } from './session-sandbox.js';

/** What a session's tools find around them: its directories, and what becomes of long results. */
export function toolSurroundings(session: {
  readonly state: SessionState;
  readonly settings: SessionSettings;
  readonly sessionDirectory: string;
  readonly directories: readonly string[];
  readonly shells: SessionShells;
  readonly sandbox: SessionSandbox;
  readonly jobs: JobRunner;
}): ToolSurroundings {
  const { state, settings, sessionDirectory, directories, shells, sandbox, jobs } = session;
  const workingDirectory = state.context.cwd;
  return {
    workingDirectory,
    sessionDirectory,
    allowedDirectories: directories,
    homeDirectory: homeOf(sessionDirectory),
    largeOutput: largeOutput(settings.largeOutput, sessionDirectory),
    shells,
    confinement: () => sandbox.confinement(),
    openPaths: () => sandbox.openPaths(),
    jobs,
  };
}

/** Where a session's tools come from; whoever attaches or leaves changes both. */
export function toolSources(
  session: { readonly audience: Audience; readonly currentSettings: SessionSettings },
  builtinTools: (company: Company) => readonly Tool[],
): readonly ListedTools[] {
  const { audience } = session;
  const builtin = () =>
    builtinTools({
      isOld: audience.isOld,
      answersQuestions: audience.answersQuestions && !session.currentSettings.isAskingDisabled,
    });
  return [
    new ListedTools('builtin', builtin),
    new ListedTools('client', () => audience.tools().map(externalTool)),
  ];
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
