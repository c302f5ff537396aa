import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { gzipSync } from 'node:zlib';
import { type Exporter, TryLater } from './exporter.js';
import { metricsRequest, tracesRequest } from './otlp.js';
import { metricsProtobuf, tracesProtobuf } from './protobuf.js';
import type { OtlpTarget, TelemetrySettings } from './settings.js';

/** Posts to a collector, over connections that are kept. */
export function otlpExporter(
  { traces, metrics }: { readonly traces?: OtlpTarget; readonly metrics?: OtlpTarget },
  settings: TelemetrySettings,
): Exporter {
  const spans = traces && new Endpoint(traces);
  const measures = metrics && new Endpoint(metrics);
  return {
    name: [traces, metrics].map((target) => target && shownUrl(target.url)).find(Boolean) ?? '',
    sendSpans: async (ended, signal) => {
      if (!spans) return;
      const body = tracesRequest(ended, settings);
      await spans.post(spans.isProtobuf ? tracesProtobuf(body) : JSON.stringify(body), signal);
    },
    sendMetrics: async (measured, moment, signal) => {
      if (!measures || measured.length === 0) return;
      const body = metricsRequest(measured, { ...moment, settings });
      await measures.post(measures.isProtobuf ? metricsProtobuf(body) : JSON.stringify(body), signal);
    },
    close: async () => {
      spans?.close();
      measures?.close();
    },
  };
}

/** Without a name, a password or a query, which may be secret. */
function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

class Endpoint {
  private readonly agent: HttpAgent;

  constructor(private readonly target: OtlpTarget) {
    this.agent = target.url.startsWith('https:')
      ? new HttpsAgent({ keepAlive: true, maxSockets: 1, ...tlsOf(target) })
      : new HttpAgent({ keepAlive: true, maxSockets: 1 });
  }

  get isProtobuf(): boolean {
    return this.target.isProtobuf;
  }

  close(): void {
    this.agent.destroy();
  }

  async post(text: string | Buffer, signal: AbortSignal): Promise<void> {
    const { url, headers, isProtobuf, isCompressed, timeoutMs } = this.target;
    const body = isCompressed ? gzipSync(text) : Buffer.from(text);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const outgoing = send(url, {
      method: 'POST',
      agent: this.agent,
      signal: limit,
      headers: {
        'user-agent': 'groundcrew',
        ...headers,
        'content-type': isProtobuf ? 'application/x-protobuf' : 'application/json',
        'content-length': body.length,
        ...(isCompressed && { 'content-encoding': 'gzip' }),
      },
    });
    outgoing.on('socket', (socket) => socket.unref());
    outgoing.end(body);
    const [answer] = (await once(outgoing, 'response').catch((error: unknown) => {
      throw new TryLater(error instanceof Error ? error.message : String(error));
    })) as [IncomingMessage];
    answer.resume();
    answer.on('error', () => undefined);
    const { statusCode = 0 } = answer;
    if (statusCode >= 200 && statusCode < 300) return;
    const words = `it answered ${statusCode}`;
    if (!passing.has(statusCode)) throw new Error(words);
    const seconds = Number(answer.headers['retry-after']);
    throw new TryLater(words, Number.isFinite(seconds) ? seconds * 1000 : undefined);
  }
}

/** Answers after which OTLP has its senders try again. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

function tlsOf({ certificate, clientCertificate, clientKey }: OtlpTarget) {
  return {
    ...(certificate !== undefined && { ca: readFileSync(certificate) }),
    ...(clientCertificate !== undefined && { cert: readFileSync(clientCertificate) }),
    ...(clientKey !== undefined && { key: readFileSync(clientKey) }),
  };
}
