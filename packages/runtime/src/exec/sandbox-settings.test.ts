import { expect, test } from 'vitest';
import type { Probe } from './sandbox-probe.js';
import { placementOf, type SandboxSettings } from './sandbox-settings.js';

const abilities = { userNamespace: true, bansUserNamespaces: true, filtersCalls: true };
const works: Probe = {
  type: 'works',
  sandbox: { kind: 'bwrap', program: '/usr/bin/bwrap', abilities, inherited: [] },
};
const missing: Probe = { type: 'missing', reason: 'install it' };

const cases: readonly (readonly [SandboxSettings, 'manual' | 'assisted' | 'allow-all', string, string])[] = [
  [{}, 'manual', 'host', 'host'],
  [{}, 'assisted', 'confined', 'host, warned'],
  [{}, 'allow-all', 'confined', 'host, warned'],
  [{ executor: 'host' }, 'allow-all', 'host', 'host'],
  [{ executor: 'auto' }, 'manual', 'confined', 'host, warned'],
  [{ executor: 'bwrap' }, 'manual', 'confined', 'refused'],
  [{ executor: 'required' }, 'manual', 'confined', 'refused'],
  [{ executor: 'seatbelt' }, 'allow-all', 'refused', 'refused'],
  [{ network: false }, 'manual', 'confined', 'refused'],
  [{ executor: 'auto', network: false }, 'allow-all', 'confined', 'refused'],
  [{ deniedPaths: ['/x'] }, 'manual', 'confined', 'refused'],
  [{ writesWorkingDirectory: false }, 'assisted', 'confined', 'refused'],
];

test.each(cases)(
  '%j in the mode %s is %s where the sandbox works, else %s',
  (settings, mode, here, elsewhere) => {
    const placement = (probe: Probe) => {
      const { type, ...more } = placementOf(settings, mode, probe);
      return 'missing' in more ? `${type}, warned` : type;
    };
    expect([placement(works), placement(missing)]).toEqual([here, elsewhere]);
  },
);
