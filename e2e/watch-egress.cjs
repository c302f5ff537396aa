'use strict';

// Loaded before the program by `--require`: writes down every address that the process wants to reach, by a name, a
// connection or a datagram, and lets it through to this machine only.
const { appendFileSync } = require('node:fs');
const dgram = require('node:dgram');
const dns = require('node:dns');
const net = require('node:net');

const file = process.env.WATCH_EGRESS;
const isLocal = (host) => host === 'localhost' || host === '::1' || /^127\./.test(host);

function note(way, host, port) {
  appendFileSync(file, `${way} ${host}:${port}\n`);
  if (!isLocal(host)) throw new Error(`No way out to ${host}`);
}

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...given) {
  const [first] = Array.isArray(given[0]) ? given[0] : given;
  const target = typeof first === 'object' ? first : { port: first, host: given[1] };
  if (!target.path) note('connect', target.host ?? 'localhost', target.port);
  return connect.apply(this, given);
};

for (const [owner, names] of [
  [dns, ['lookup', 'resolve', 'resolve4', 'resolve6']],
  [dns.promises, ['lookup', 'resolve', 'resolve4', 'resolve6']],
]) {
  for (const name of names) {
    const original = owner[name];
    owner[name] = (host, ...rest) => {
      note('name', host, '');
      return original.call(owner, host, ...rest);
    };
  }
}

const send = dgram.Socket.prototype.send;
dgram.Socket.prototype.send = function (...given) {
  note('datagram', given.find((each) => typeof each === 'string' && each.includes('.')) ?? 'localhost', '');
  return send.apply(this, given);
};
