import { ApiError, recordListBounds, type TableState } from '@opsplane/contracts'
import { quoteIdentifier } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import { z } from 'zod'
import { buildFields, comparedType, type Field, isOrdered } from '../row/fields.js'
import type { Parameters } from '../row/parameters.js'
import type { Place, Problems } from '../row/problems.js'

export interface SortTerm {
  field: Field
  descending: boolean
}

const maxTerms = recordListBounds.sorted

/**
 * Parses a sort such as `-total,name`: at most four fields, `-` for descending; the default is newest records first.
 * The id is appended as a tie-breaker, in the direction of the field before it.
 */
export function readSort(
  table: TableState,
  sortText: string | undefined,
  place: Place,
  problems: Problems,
): SortTerm[] {
  const fields = buildFields(table)
  const id = fields.get('id')
  if (!id) throw new Error('a table without ids')
  const names = sortText === undefined ? ['-id'] : sortText.split(',')
  const terms: SortTerm[] = []
  for (const name of names) {
    const descending = name.startsWith('-')
    const field = fields.get(descending ? name.slice(1) : name)
    if (!field || !isOrdered(field)) {
      problems.add(
        place,
        'invalid_value',
        `cannot be by ${JSON.stringify(name)}: that is no field to sort by`,
      )
      return [{ field: id, descending: true }]
    }
    if (terms.some((term) => term.field === field))
      problems.add(place, 'invalid_value', `names ${field.name} twice`)
    terms.push({ field, descending })
    if (field === id) break
  }
  if (terms.length > maxTerms) problems.add(place, 'too_big', `must name at most ${maxTerms} fields`)
  const last = terms.at(-1)
  return last && last.field !== id ? [...terms, { field: id, descending: last.descending }] : terms
}

/** Nulls are last in ascending and first in descending order, as in an index read in either direction. */
export const orderBy = (terms: readonly SortTerm[], row: string): string =>
  terms
    .map(({ field, descending }) => `${row}.${quoteIdentifier(field.column)} ${descending ? 'desc' : 'asc'}`)
    .join(', ')

/** The values of the sort fields of a page's last record, as text. */
export type Position = readonly (string | null)[]

/**
 * The rows after a position, as non-overlapping conditions, each of which is one index range in sort order: a page is
 * the first rows of their union.
 */
export function rangesAfterPosition(
  terms: readonly SortTerm[],
  position: Position,
  row: string,
  parameters: Parameters,
): string[] {
  const places = terms.map(({ field }, index) => {
    const value = position[index] ?? null
    return value === null ? null : parameters.bind(value, comparedType(field))
  })
  if (isRowComparable(terms)) return [rowComparison(terms, places, row)]
  return terms.flatMap((_, at) => {
    const depth = terms.length - 1 - at
    const equal = terms.slice(0, depth).map((term, index) => isEqual(term, places[index] ?? null, row))
    const term = terms[depth]
    const ranges = term ? rangesAfterValue(term, places[depth] ?? null, row) : []
    return ranges.map((range) => [...equal, range].join(' and '))
  })
}

/** True if the fields are not nullable and have one direction: Postgres can then use a row comparison. */
const isRowComparable = (terms: readonly SortTerm[]): boolean =>
  terms.every(({ field, descending }) => !field.nullable && descending === terms[0]?.descending)

function rowComparison(terms: readonly SortTerm[], places: readonly (string | null)[], row: string): string {
  const columns = terms.map(({ field }) => `${row}.${quoteIdentifier(field.column)}`)
  return `(${columns.join(', ')}) ${terms[0]?.descending ? '<' : '>'} (${places.join(', ')})`
}

function isEqual({ field }: SortTerm, place: string | null, row: string): string {
  const column = `${row}.${quoteIdentifier(field.column)}`
  return place === null ? `${column} is null` : `${column} = ${place}`
}

function rangesAfterValue({ field, descending }: SortTerm, place: string | null, row: string): string[] {
  const column = `${row}.${quoteIdentifier(field.column)}`
  if (place === null) return descending ? [`${column} is not null`] : []
  const comparison = `${column} ${descending ? '<' : '>'} ${place}`
  return descending || !field.nullable ? [comparison] : [comparison, `${column} is null`]
}

const PositionOf = z.array(z.string().nullable())

/** Decodes the position from a cursor. Throws `invalid_cursor`. */
export function parsePosition(
  cursors: CursorCodec,
  cursor: string,
  binding: string,
  terms: readonly SortTerm[],
): Position {
  const position = PositionOf.safeParse(cursors.decode(cursor, binding))
  if (!position.success || position.data.length !== terms.length) throw foreignCursorError(position.error)
  return position.data
}

/** Also used if the type of a sort column has changed since the cursor was issued. */
export const foreignCursorError = (cause: unknown) =>
  new ApiError('invalid_cursor', 'The cursor does not belong to this list, sort and filter.', { cause })

/**
 * Name of an extra property on a listed row: a sort field's value as Postgres writes it.
 * No column name begins with a point.
 */
const placeName = (index: number) => `.at${index}`

/**
 * Select list of the sort values for `extractPosition`. The record's own fields are not usable: in the response they
 * may be rounded, or be an expanded record.
 */
export const positionList = (terms: readonly SortTerm[], row: string): string =>
  terms
    .map(
      ({ field }, index) =>
        `${row}.${quoteIdentifier(field.column)}::text as ${quoteIdentifier(placeName(index))}`,
    )
    .join(', ')

/** Returns the position of a row and removes its properties from the row. */
export function extractPosition(row: Record<string, unknown>, terms: readonly SortTerm[]): Position {
  const names = terms.map((_, index) => placeName(index))
  const position = names.map((name) => {
    const value = row[name]
    return typeof value === 'string' ? value : null
  })
  // Deletes the last property first, so that V8 keeps one hidden class for all rows.
  for (const name of names.toReversed()) delete row[name]
  return position
}
