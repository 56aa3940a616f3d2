/** A measure over the rows of a table or saved query: `count`, or a kind with its column. */
export interface RowMeasure {
  name: string
  kind: FoldKind
  column?: string
}

export type FoldKind = (typeof foldKinds)[number]

export const foldKinds = [
  'count',
  'sum',
  'avg',
  'min',
  'max',
  'distinct',
  'p50',
  'p90',
  'p95',
  'p99',
] as const
