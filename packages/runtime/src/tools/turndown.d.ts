declare module 'turndown' {
  /** What we use of the package, which brings no types of its own. */
  class TurndownService {
    constructor(options: {
      readonly headingStyle: 'atx';
      readonly codeBlockStyle: 'fenced';
      readonly bulletListMarker: '-';
    });
    remove(elements: readonly string[]): this;
    turndown(html: string): string;
  }
  export = TurndownService;
}
