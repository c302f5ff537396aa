import { writeFile } from 'node:fs/promises';
import { TestingError } from '../errors.js';
import type { EvaluatedCase } from './outcome.js';
import { evaluationPage } from './page.js';
import { evaluationTable, onOneLine } from './table.js';

/** What came of an evaluation. */
export class Evaluation {
  constructor(readonly cases: readonly EvaluatedCase[]) {}

  /** Every case passed with every variant. */
  get passed(): boolean {
    return this.cases.every(({ passed }) => passed);
  }

  /** A table for a terminal: cases by variants, then what each variant took. */
  table(): string {
    return evaluationTable(this.cases);
  }

  /** A page of its own, without scripts: each case with the answers of all variants, and where they differ. */
  page(title = 'Evaluation'): string {
    return evaluationPage(title, this.cases);
  }

  /** Writes the page to a file. */
  async writePage(file: string, title?: string): Promise<void> {
    await writeFile(file, this.page(title));
  }

  /** Throws with the table and every reason unless all cases passed. */
  verify(): void {
    if (this.passed) return;
    const reasons = this.cases
      .filter(({ passed }) => !passed)
      .map(({ name, variant, turn, checks }) => {
        const failed = checks.filter((check) => !check.passed);
        const why = failed.map(({ check, reason }) => `${check}: ${reason ?? 'no'}`);
        const all = [...(turn.error === undefined ? [] : [turn.error]), ...why].join('; ');
        return onOneLine(`${name} with ${variant}: ${all}`);
      });
    throw new TestingError('not_as_expected', `${this.table()}\n\n${reasons.join('\n')}`);
  }
}
