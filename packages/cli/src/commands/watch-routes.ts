import type { Route } from '@groundcrew/http-door';
import type { Program } from '../compose.js';

/** What of the process may be watched over HTTP. */
export interface WatchOptions {
  /** `/healthz` and `/readyz`, which need no token. */
  readonly health?: boolean;
  /** `/metrics`, which needs it. */
  readonly metrics?: boolean;
}

/** The paths by which those that run the program watch it. */
export function watchRoutes(
  program: Pick<Program, 'readiness' | 'metrics'>,
  { health = false, metrics = false }: WatchOptions,
): Readonly<Record<string, Route>> {
  let asking: Promise<string | undefined> | undefined;
  // However many ask at once, the store is asked once.
  const ready = () => {
    asking ??= unreadiness(program).finally(() => {
      asking = undefined;
    });
    return asking;
  };
  return {
    ...(health && {
      '/healthz': { isOpen: true, answer: async () => text('ok\n') },
      '/readyz': { isOpen: true, answer: async () => readyAnswer(await ready()) },
    }),
    ...(metrics && {
      '/metrics': {
        answer: async ({ method }) =>
          method === 'GET' || method === 'HEAD'
            ? text(program.metrics(), { type: prometheusType })
            : text('Only GET and HEAD are answered here\n', { status: 405 }),
      },
    }),
  };
}

const prometheusType = 'text/plain; version=0.0.4; charset=utf-8';

/** A request waits no longer than this for the store. */
const patienceMs = 2_000;

/** Why no client should be sent here now; undefined when they may come. */
async function unreadiness({ readiness }: Pick<Program, 'readiness'>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('the store does not answer'), patienceMs);
  });
  try {
    return await Promise.race([readiness(), late]);
  } catch {
    // The log has the reason. This caller has shown no token, so the answer does not repeat it.
    return 'the store cannot be read';
  } finally {
    clearTimeout(timer);
  }
}

function readyAnswer(reason: string | undefined): Response {
  return reason === undefined ? text('ready\n') : text(`not ready: ${reason}\n`, { status: 503 });
}

function text(body: string, { status = 200, type = 'text/plain; charset=utf-8' } = {}): Response {
  return new Response(body, { status, headers: { 'content-type': type, 'cache-control': 'no-store' } });
}
