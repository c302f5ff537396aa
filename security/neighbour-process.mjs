// A client of its own process that pings a runtime at a steady pace, whatever becomes of the answers, and says how long each took,
// less what the runtime and this process had to wait until the machine gave them a processor.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const [port, pace, runtime] = process.argv.slice(2).map(Number);
const processes = [runtime, process.pid].map((pid) => `/proc/${pid}/task/${pid}/schedstat`);
const socket = connect(port, '127.0.0.1').setNoDelay(true);
const sent = new Map();
let took = [];
let next = 1;
let received = '';

socket.on('error', () => process.exit(1));
socket.on('data', (chunk) => {
  received += chunk.toString('latin1');
  for (let end = frameEnd(received); end > 0; end = frameEnd(received)) {
    const { id } = JSON.parse(received.slice(received.indexOf('{'), end));
    received = received.slice(end);
    // What the runtime says of its own accord answers no ping.
    if (sent.has(id)) took.push(since(sent.get(id)));
    sent.delete(id);
  }
});

function frameEnd(text) {
  const [head, length] = /^Content-Length: (\d+)\r\n\r\n/.exec(text) ?? [];
  if (head === undefined || text.length < head.length + Number(length)) return 0;
  return head.length + Number(length);
}

function now() {
  return { time: performance.now(), queued: processes.reduce((sum, path) => sum + queuedIn(path), 0) };
}

/** Milliseconds that a process was ready and no processor was; the system says so on Linux only. */
function queuedIn(path) {
  try {
    return Number(readFileSync(path, 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

function since({ time, queued }) {
  const at = now();
  return Math.max(0, at.time - time - (at.queued - queued));
}

function ping() {
  const body = JSON.stringify({ jsonrpc: '2.0', id: next, method: 'ping', params: {} });
  sent.set(next, now());
  next += 1;
  socket.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
}

setInterval(ping, pace);

process.on('message', (order) => {
  if (order === 'start') took = [];
  // What has not been answered yet has taken so long already.
  else process.send([...took, ...[...sent.values()].map(since)]);
});
process.on('disconnect', () => process.exit());
socket.once('connect', () => process.send('ready'));
