import type { ImageLimits } from '@groundcrew/models';

/** What a model can read. What it cannot stays in the history, for one that can may be chosen later. */
export interface ModelView {
  readonly model: string;
  readonly canSeeImages: boolean;
  /** What it takes of images, where that is known. */
  readonly images?: ImageLimits;
  /** Types of documents that it reads as they are. */
  readonly documents: readonly string[];
}
