import type { Tool } from './tool.js';
import { searchName, toolSearch } from './tool-search.js';
import { sizeOfTools, type Toolset, toolsetOf } from './toolset.js';

/** When tools are too many for every request. */
export interface DeferralSettings {
  readonly enabled?: boolean;
  /** So many of servers and clients are offered in full. */
  readonly deferThreshold?: number;
}

const defaultThreshold = 40;
const shareOfWindow = 0.1;
const charactersPerToken = 4;

/** Keeps the definitions of tools of servers and clients out of requests when they are too many; the model searches for them. */
export class Deferral {
  /** Names that a search has found. */
  private loaded: readonly string[] = [];
  /** What came of the last toolset; made anew when anything it rests on is another. */
  private last: { readonly key: readonly unknown[]; readonly made: Toolset } | undefined;

  /** The toolset as the model sees it. `window`: how many tokens it has, where that is known. */
  apply(toolset: Toolset, settings: DeferralSettings, window: number | undefined): Toolset {
    const key = [toolset, settings.enabled, settings.deferThreshold, window, this.loaded];
    if (!this.last?.key.every((part, index) => part === key[index]))
      this.last = { key, made: this.make(toolset, settings, window) };
    return this.last.made;
  }

  private make(toolset: Toolset, settings: DeferralSettings, window: number | undefined): Toolset {
    if (settings.enabled === false) return toolset;
    const candidates = toolset.tools.filter(mayBeDeferred);
    const isMuch =
      window !== undefined && sizeOfTools(candidates) > window * shareOfWindow * charactersPerToken;
    if (candidates.length <= (settings.deferThreshold ?? defaultThreshold) && !isMuch) return toolset;
    const deferred = candidates.filter(({ name }) => !this.loaded.includes(name));
    if (deferred.length === 0) return toolset;
    const own = toolset.find(searchName);
    const search = own ?? toolSearch(deferred, (names) => this.load(names));
    const shown = toolset.tools.filter((tool) => !deferred.includes(tool));
    const tools = own ? shown : [...shown, search];
    const find = (name: string) => (name === searchName ? search : toolset.find(name));
    return toolsetOf({ tools, deferred, hidden: toolset.hidden, find });
  }

  private load(names: readonly string[]): void {
    this.loaded = [...new Set([...this.loaded, ...names])];
  }
}

function mayBeDeferred({ source, isNeverDeferred }: Tool): boolean {
  return source !== 'builtin' && !isNeverDeferred;
}
