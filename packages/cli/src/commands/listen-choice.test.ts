import { describe, expect, test } from 'vitest';
import { chooseListen, type ListenFlags } from './listen-choice.js';

const tls = { tlsCert: 'c.pem', tlsKey: 'k.pem' };

describe('where a server listens', () => {
  test.each<[ListenFlags, { host?: string; port: number }]>([
    [{}, { port: 0 }],
    [
      { host: '0.0.0.0', port: 1 },
      { host: '0.0.0.0', port: 1 },
    ],
    [{ listen: '127.0.0.1:4321' }, { host: '127.0.0.1', port: 4321 }],
    [{ listen: '[::1]:4321' }, { host: '::1', port: 4321 }],
    [
      { listen: '0.0.0.0:4321', auth: 'a.json', ...tls },
      { host: '0.0.0.0', port: 4321 },
    ],
    [
      { listen: '[::]:4321', auth: 'a.json', behindProxy: true },
      { host: '::', port: 4321 },
    ],
  ])('%j is accepted', (wishes, where) => {
    expect(chooseListen(wishes)).toEqual(where);
  });

  test.each<[ListenFlags, RegExp]>([
    [{ listen: '0.0.0.0:1' }, /others reach 0\.0\.0\.0, so clients have to show who they are: --auth/],
    [{ listen: '0.0.0.0:1', ...tls }, /--auth/],
    [{ listen: '10.0.0.5:1', auth: 'a.json' }, /needs TLS: --tls-cert and --tls-key, or --behind-proxy/],
    [{ listen: '127.0.0.1.example:1', auth: 'a.json' }, /needs TLS/],
    [{ listen: '127.0.0.1:1', auth: 'a.json', httpHost: '0.0.0.0' }, /others reach 0\.0\.0\.0.*TLS/],
    [{ listen: '4321' }, /expected host:port/],
    [{ listen: '127.0.0.1:70000' }, /--listen/],
    [{ listen: '127.0.0.1:1', port: 2 }, /--host and --port have no place/],
    [{ tlsCert: 'c.pem' }, /need one another/],
    [{ behindProxy: true }, /needs --listen/],
    [{ audit: 'f' }, /need --auth/],
    [{ auth: 'a.json', tokenFile: 't' }, /--token-file has no place/],
  ])('%j is refused', (wishes, words) => {
    expect(() => chooseListen(wishes)).toThrow(words);
  });
});
