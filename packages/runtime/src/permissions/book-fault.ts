/** The book of approvals cannot be read or written; what it holds counts for nothing until then, and is not overwritten. */
export class BookFault extends Error {
  override readonly name = 'BookFault';
}
