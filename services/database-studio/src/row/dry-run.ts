/** Thrown to roll back a transaction; carries the answer it would have returned. */
export class DryRun<T> extends Error {
  constructor(readonly result: T) {
    super('a dry run was undone')
  }
}
