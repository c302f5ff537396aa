import { stdioChannel } from '../src/stdio.js';
import { ourPeer, theirPeer } from './peers.js';

/** A peer on this process's standard streams, with the library named on the command line. */
if (process.argv[2] === 'ours') ourPeer(stdioChannel());
else theirPeer(process.stdin, process.stdout);
