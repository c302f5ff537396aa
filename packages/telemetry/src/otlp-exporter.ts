import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { createSecureContext } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { type Exporter, type Rejection, TryLater } from './exporter.js';
import { metricsRequest, tracesRequest } from './otlp.js';
import { bodyOf, pauseIn, rejectionIn } from './otlp-answer.js';
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
      if (!spans) return undefined;
      const body = tracesRequest(ended, settings);
      return spans.post(spans.isProtobuf ? tracesProtobuf(body) : JSON.stringify(body), signal);
    },
    sendMetrics: async (measured, moment, signal) => {
      if (!measures || measured.length === 0) return undefined;
      const body = metricsRequest(measured, { ...moment, settings });
      return measures.post(measures.isProtobuf ? metricsProtobuf(body) : JSON.stringify(body), signal);
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
  private opened: HttpAgent | undefined;

  constructor(private readonly target: OtlpTarget) {}

  get isProtobuf(): boolean {
    return this.target.isProtobuf;
  }

  close(): void {
    this.opened?.destroy();
  }

  /** Throws for files of certificates that cannot be read; they are read again when it is next asked for. */
  private get agent(): HttpAgent {
    this.opened ??= this.target.url.startsWith('https:')
      ? new HttpsAgent({ keepAlive: true, maxSockets: 1, ...tlsOf(this.target) })
      : new HttpAgent({ keepAlive: true, maxSockets: 1 });
    return this.opened;
  }

  /** What the collector has rejected of it. */
  async post(text: string | Buffer, signal: AbortSignal): Promise<Rejection | undefined> {
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
    const { statusCode = 0 } = answer;
    if (statusCode >= 200 && statusCode < 300) return rejectionIn(await bodyOf(answer), isProtobuf);
    answer.resume();
    answer.on('error', () => undefined);
    const words = `it answered ${statusCode}`;
    if (!passing.has(statusCode)) throw new Error(words);
    throw new TryLater(words, pauseIn(answer.headers['retry-after']));
  }
}

/** Answers after which OTLP has its senders try again. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

function tlsOf({ certificate, clientCertificate, clientKey }: OtlpTarget) {
  const pem = {
    ...(certificate !== undefined && { ca: readPem('CERTIFICATE', certificate) }),
    ...(clientCertificate !== undefined && { cert: readPem('CLIENT_CERTIFICATE', clientCertificate) }),
    ...(clientKey !== undefined && { key: readPem('CLIENT_KEY', clientKey) }),
  };
  try {
    createSecureContext(pem);
  } catch (error) {
    throw new Error(`the certificates of OTEL_EXPORTER_OTLP_… are not valid PEM: ${reasonOf(error)}`);
  }
  return pem;
}

function readPem(variable: string, path: string): Buffer {
  try {
    // A file without end, or a pipe that no process writes to, would hold up the program.
    if (!statSync(path).isFile()) throw new Error('it is no file');
    return readFileSync(path);
  } catch (error) {
    throw new Error(`the file of OTEL_EXPORTER_OTLP_${variable} cannot be read: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
