/** Ends a transaction so that nothing of it stays, with what it would have answered. */
export class DryRun<T> extends Error {
  constructor(readonly result: T) {
    super('a dry run was undone')
  }
}
