import { existsSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { isWithin } from '../../workspace/paths.js';

/**
 * The environment of a command that runs unasked because it only reads: without what makes shells and programs read files
 * of the place, or run what those name; with git set to run nothing that a repository can configure; and without secrets,
 * because what it prints goes to the model before any user has seen it.
 */
export function hardenedEnvironment(
  environment: Readonly<Record<string, string>>,
  workingDirectory: string,
): Record<string, string> {
  const kept = Object.entries(environment).filter(
    ([name, value]) => !isSteering(name) && !isSecret(name, value),
  );
  const project = projectOf(workingDirectory, environment.HOME);
  const path = environment.PATH?.split(delimiter).filter((each) => isTrusted(each, project));
  return {
    ...Object.fromEntries(kept),
    ...(path && { PATH: path.join(delimiter) }),
    ...gitSettings(),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'false',
    GIT_SSH_COMMAND: 'false',
    PAGER: 'cat',
  };
}

/** Start files, functions, options and other places for shells and for the programs of the table. */
function isSteering(name: string): boolean {
  return steering.has(name) || /^(?:GIT_|BASH_FUNC_|LD_|DYLD_)/.test(name);
}

/** By its name, or because it is an address with a password in it. */
function isSecret(name: string, value: string): boolean {
  return secretName.test(name) || /^[a-z][a-z\d+.-]*:\/\/[^/\s]*:[^/\s]*@/i.test(value);
}

const secretName =
  /password|passwd|passphrase|secret|credential|api_?key|(?:^|_)(?:token|key|auth|authorization|pat|cookies?|dsn|webhook)(?:_|$)|_pwd$/i;

const steering = new Set(
  (
    'BASH_ENV ENV GCONV_PATH LOCPATH NLSPATH PYTHONHOME SHELLOPTS BASHOPTS CDPATH GLOBIGNORE IFS PS4 PROMPT_COMMAND POSIXLY_CORRECT SSH_CLIENT SSH2_CLIENT ' +
    'LESSOPEN LESSCLOSE LESS MANPAGER EDITOR VISUAL RIPGREP_CONFIG_PATH GREP_OPTIONS FD_OPTIONS AWKPATH AWKLIBPATH ' +
    'JQ_LIBRARY_PATH MAGIC DIFF_OPTIONS TAR_OPTIONS GZIP NODE_OPTIONS PYTHONSTARTUP PYTHONPATH PERL5OPT PERL5LIB RUBYOPT ' +
    'JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS TREE_COLORS'
  ).split(' '),
);

/** A program that the session or the repository may have put there is not the one that the table means. */
function isTrusted(directory: string, project: string): boolean {
  return isAbsolute(directory) && !isWithin(project, directory);
}

/** The repository around a working directory, or that directory itself; a home that is a repository is not one project. */
function projectOf(workingDirectory: string, home: string | undefined): string {
  for (let place = workingDirectory; place !== dirname(place) && place !== home; place = dirname(place))
    if (existsSync(join(place, '.git'))) return place;
  return workingDirectory;
}

const settings: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.editor', 'false'],
  ['core.sshCommand', 'false'],
  ['core.askPass', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['core.untrackedCache', 'false'],
  ['credential.helper', ''],
  ['diff.autoRefreshIndex', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
  ['diff.submodule', 'short'],
  ['status.submoduleSummary', 'false'],
  ['submodule.recurse', 'false'],
  ['log.showSignature', 'false'],
  ['log.diffMerges', 'separate'],
  ['gpg.program', 'false'],
  ['gpg.ssh.program', 'false'],
  ['gpg.x509.program', 'false'],
  ['protocol.allow', 'never'],
  ['safe.bareRepository', 'explicit'],
];

/** Settings in variables override those of every configuration file. */
function gitSettings(): Record<string, string> {
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) };
}
