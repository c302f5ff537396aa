const headerEnd = Buffer.from('\r\n\r\n');

/** Cuts what a runtime sends into message bodies, for clients that must cost little: it trusts the header as we write it. */
export class BodyReader {
  private rest: Buffer | undefined;

  constructor(private readonly take: (body: Buffer) => void) {}

  read(chunk: Buffer): void {
    const bytes = this.rest ? Buffer.concat([this.rest, chunk]) : chunk;
    let at = 0;
    for (;;) {
      const end = bytes.indexOf(headerEnd, at);
      if (end === -1) break;
      const start = end + headerEnd.length;
      const stop = start + Number(bytes.toString('latin1', at + 'Content-Length: '.length, end));
      if (stop > bytes.length) break;
      this.take(bytes.subarray(start, stop));
      at = stop;
    }
    this.rest = at < bytes.length ? bytes.subarray(at) : undefined;
  }
}
