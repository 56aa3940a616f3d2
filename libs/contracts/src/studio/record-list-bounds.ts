import { pageBounds } from '../core/page-bounds.js'

/** Limits of record lists, for the routes that list records and for stored queries that are run later. */
export const recordListBounds = {
  limit: pageBounds.items,
  /** Maximum characters of a filter, written as JSON. */
  filter: 8_000,
  /** Maximum conditions of a filter, including those of its alternatives. */
  conditions: 50,
  /** Maximum characters of a compared text. */
  text: 1_000,
  /** Maximum characters of a list of names, including separating commas. */
  names: 2_000,
  sorted: 4,
} as const
