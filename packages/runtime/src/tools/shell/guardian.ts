import { type ChildProcess, spawn } from 'node:child_process';
import { markVariable } from './processes.js';

/**
 * A small shell that outlives the runtime just long enough to end what the runtime had started. It reads the ids of
 * process sessions to watch; when its input ends, however that came about, it ends them and removes the runtime's temporary directory.
 */
export class Guardian {
  private readonly watched = new Map<number, '+' | '!'>();
  private directory: string | undefined;
  private mark: string | undefined;
  private child: ChildProcess | undefined;

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Stands guard from now on; called before the first child is started. */
  start(): void {
    if (this.child) return;
    const child = spawn('/bin/sh', ['-c', script, 'groundcrew-guardian'], {
      cwd: '/',
      detached: true,
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.child = child;
    // A guardian that was killed is replaced before the next child.
    child.once('error', () => this.lose(child));
    child.once('exit', () => this.lose(child));
    child.stdin?.on('error', () => this.lose(child));
    child.unref();
    // The input is a socket, which must not keep the runtime alive.
    if (child.stdin && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
    if (this.directory !== undefined) this.send('/', this.directory);
    if (this.mark !== undefined) this.send('=', this.mark);
    for (const [id, verb] of this.watched) this.send(verb, id);
  }

  /** The directory goes when the runtime is gone. */
  clearAfterwards(directory: string): void {
    this.directory = directory;
    this.send('/', directory);
  }

  /** All that carries the mark goes with the runtime. */
  endAfterwards(mark: string): void {
    this.mark = mark;
    this.send('=', mark);
  }

  /** A process session that ends with the runtime; one of a sandbox at once, as the kernel ends the rest of it. */
  watch(id: number, { isConfined }: { readonly isConfined: boolean }): void {
    const isNew = !this.child;
    const verb = isConfined ? '!' : '+';
    this.watched.set(id, verb);
    this.start();
    if (!isNew) this.send(verb, id);
  }

  release(id: number): void {
    if (this.watched.delete(id)) this.send('-', id);
  }

  /** Ends the guardian; resolves when it is gone. */
  async close(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.ref();
    // Before it is closed, all that there was has ended.
    if (this.watched.size === 0) this.send('=', '');
    child.stdin?.end();
    await exited;
  }

  private send(verb: '+' | '!' | '-' | '/' | '=', what: number | string): void {
    this.child?.stdin?.write(`${verb} ${what}\n`);
  }

  private lose(child: ChildProcess): void {
    if (this.child === child) this.child = undefined;
  }
}

/** A child is found by its process session where the system shows it, since programs such as `timeout` leave their group. */
const script = `
watched=' '
confined=' '
directory=
mark=
while read -r verb id; do
  case $verb in
    /) directory=$id ;;
    =) mark=$id ;;
    +) watched="$watched$id " ;;
    !) confined="$confined$id " ;;
    -)
      case $watched in *" $id "*) watched="\${watched%% $id *} \${watched#* $id }" ;; esac
      case $confined in *" $id "*) confined="\${confined%% $id *} \${confined#* $id }" ;; esac ;;
  esac
done
signal() {
  found=
  [ -r /proc/self/stat ] || { for id in $watched $confined; do kill -s "$1" -- "-$id" && found=1; done; return; }
  sent=$1
  for stat in /proc/[0-9]*/stat; do
    read -r line < "$stat" || continue
    pid=\${line%% *}
    set -- \${line##*) }
    [ "$1" = Z ] && continue
    case $watched in *" $4 "*) kill -s "$sent" "$pid" && found=1 ;; esac
    case $confined in *" $4 "*) kill -s KILL "$pid" && found=1 ;; esac
  done
  [ "$mark" ] || return
  for marked in $(grep -ls "${markVariable}=$mark" /proc/[0-9]*/environ /proc/[0-9]*/cmdline); do
    pid=\${marked#/proc/}
    kill -s "$sent" "\${pid%/*}" && found=1
  done
}
if [ "$watched$confined" != '  ' ] || [ "$mark" ]; then
  signal TERM
  for pause in 0.1 0.2 0.3 0.4; do
    [ "$found" ] || break
    sleep $pause
    signal 0
  done
  for pause in 0.05 0.1 0.2 0.5; do
    [ "$found" ] || break
    signal KILL
    sleep $pause
  done
fi
[ -z "$directory" ] || rm -rf -- "$directory"
`;
