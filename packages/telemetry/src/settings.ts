/** Where one kind of telemetry goes over HTTP. */
export interface OtlpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly isProtobuf: boolean;
  readonly isCompressed: boolean;
  readonly timeoutMs: number;
  /** PEM files for TLS. */
  readonly certificate?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
}

/** Which traces are kept. */
export interface Sampling {
  /** What the client decided counts. */
  readonly followsParent: boolean;
  /** The share of the others that is kept, 0 to 1. */
  readonly ratio: number;
}

/** What is exported, how, and where to. */
export interface TelemetrySettings {
  readonly sourceName: string;
  readonly version: string;
  readonly resource: Readonly<Record<string, string>>;
  /** Prompts, answers, arguments and results go with the spans. */
  readonly capturesContent: boolean;
  readonly sampling: Sampling;
  /** Characters of one attribute's text. */
  readonly mostText: number;
  readonly exporter:
    | { readonly type: 'file'; readonly path: string }
    | { readonly type: 'otlp'; readonly traces?: OtlpTarget; readonly metrics?: OtlpTarget }
    | { readonly type: 'none' };
  readonly batch: {
    readonly delayMs: number;
    readonly mostQueued: number;
    readonly mostAtOnce: number;
  };
  readonly metricsIntervalMs: number;
}
