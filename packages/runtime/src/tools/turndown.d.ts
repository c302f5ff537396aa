/** What we use of it; the package has no types of its own. */
declare module 'turndown' {
  class Turndown {
    constructor(options: {
      readonly headingStyle: 'atx';
      readonly codeBlockStyle: 'fenced';
      readonly bulletListMarker: '-';
    });
    remove(names: readonly string[]): void;
    turndown(html: string): string;
  }
  export = Turndown;
}
