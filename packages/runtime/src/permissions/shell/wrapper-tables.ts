import type { OptionShape } from './wrapper-options.js';

/** Programs and builtins whose arguments are a command. */
export const wrappers = new Map<string, OptionShape>([
  [
    'sudo',
    {
      valued: 'ughpCrtTUDR',
      long: optionNames(
        'user group host prompt chdir role type close-from command-timeout chroot other-user',
      ),
      assigns: true,
    },
  ],
  ['doas', { valued: 'uC' }],
  ['env', { valued: 'uCSa', long: optionNames('unset chdir split-string argv0'), assigns: true }],
  ['nice', { valued: 'n', long: optionNames('adjustment') }],
  ['ionice', { valued: 'cnpPu', long: optionNames('class classdata pid pgid uid') }],
  ['chrt', { valued: 'TPD', long: optionNames('sched-runtime sched-period sched-deadline'), operands: 1 }],
  ['taskset', { valued: '', operands: 1 }],
  ['timeout', { valued: 'sk', long: optionNames('signal kill-after'), operands: 1 }],
  [
    'xargs',
    {
      valued: 'InPLdaEs',
      long: optionNames('max-args max-procs max-chars delimiter arg-file process-slot-var'),
    },
  ],
  ['stdbuf', { valued: 'ioe', long: optionNames('input output error') }],
  ['time', { valued: 'fo', long: optionNames('format output') }],
  ['watch', { valued: 'n', long: optionNames('interval') }],
  ['parallel', { valued: 'jIaSN' }],
  ['flock', { valued: 'wE', long: optionNames('timeout wait conflict-exit-code'), operands: 1 }],
  ['chroot', { valued: '', long: optionNames('userspec groups'), operands: 1 }],
  ['strace', { valued: 'eopsuEPabIOSUX', long: optionNames('output attach env user string-limit') }],
  ['ltrace', { valued: 'eopsu' }],
  ['exec', { valued: 'a' }],
  [
    'unshare',
    {
      valued: 'SGRw',
      long: optionNames(
        'setuid setgid root wd map-user map-group map-users map-groups propagation setgroups',
      ),
    },
  ],
  ['nsenter', { valued: 'tSG', long: optionNames('target setuid setgid') }],
  ['script', { valued: 'ctIOEBTm' }],
  ...[
    'command',
    'builtin',
    'nohup',
    'setsid',
    'busybox',
    'toybox',
    'coproc',
    'catchsegv',
    'dbus-run-session',
    'xvfb-run',
  ].map((name): [string, OptionShape] => [name, { valued: '' }]),
]);

/** Programs that read or run shell text. */
export const shells = new Set([
  'bash',
  'sh',
  'dash',
  'zsh',
  'ksh',
  'mksh',
  'ash',
  'fish',
  'rbash',
  'csh',
  'tcsh',
]);

/** Their options are many: any of their words may be the first of a command. */
export const loose = new Set(
  (
    'systemd-run pkexec firejail caffeinate entr setpriv fakeroot proot bwrap numactl prlimit gosu su-exec tini ' +
    'dumb-init unbuffer rlwrap valgrind perf hyperfine proxychains proxychains4 torsocks sshpass dbus-launch ' +
    'ssh-agent setarch linux32 linux64 ld.so cmd.exe cmd powershell pwsh tmux screen nix-shell direnv runuser'
  ).split(' '),
);

/** They take a command as the value of `-c`. */
export const withCommandOption = new Set(['script', 'flock', 'runuser']);

/** What they run stands in a file, in a dialogue or in their own tongue. */
export const hiding = new Set(
  'source . enable bind complete compgen fc history expect at batch crontab vim vi nvim ex ed emacs gdb lldb sqlite3 psql mysql pwsh powershell cmd cmd.exe'.split(
    ' ',
  ),
);

/** They change what later words mean, or run what is written elsewhere. */
export const opaque = new Set([
  ...hiding,
  ...'alias unalias declare typeset local export readonly unset let read mapfile readarray shopt hash getopts'.split(
    ' ',
  ),
]);

/** Shells that take options alike. */
export const shellShape: OptionShape = {
  valued: 'oO',
  long: optionNames('rcfile init-file'),
  mayBePlus: true,
};

function optionNames(names: string): readonly string[] {
  return names.split(' ').map((name) => `--${name}`);
}
