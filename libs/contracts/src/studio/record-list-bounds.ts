import { pageBounds } from '../core/page-bounds.js'

/** What a list of records can be asked for: of the routes that list them, and of what is kept to be asked later. */
export const recordListBounds = {
  limit: pageBounds.items,
  /** Characters of a filter, written as JSON. */
  filter: 8_000,
  /** Conditions of a filter, those of its alternatives too. */
  conditions: 50,
  /** Characters of a text that is compared. */
  text: 1_000,
  /** Characters of a list of names, with commas between them. */
  names: 2_000,
  sorted: 4,
} as const
