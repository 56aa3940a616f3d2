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
 * `-total,name`: at most four fields, `-` for descending; the newest records first where nothing is given. The id comes last
 * and breaks ties, in the direction of the field before it.
 */
export function readSort(
  table: TableState,
  given: string | undefined,
  place: Place,
  problems: Problems,
): SortTerm[] {
  const fields = buildFields(table)
  const id = fields.get('id')
  if (!id) throw new Error('a table without ids')
  const names = given === undefined ? ['-id'] : given.split(',')
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

/** Nulls are last ascending and first descending, as an index has them in both directions. */
export const orderBy = (terms: readonly SortTerm[], row: string): string =>
  terms
    .map(({ field, descending }) => `${row}.${quoteIdentifier(field.column)} ${descending ? 'desc' : 'asc'}`)
    .join(', ')

/** The values of the sort fields at the last record of a page, as texts. */
export type Position = readonly (string | null)[]

/**
 * What comes after a position, as conditions of which none overlaps another and each is one range of an index in the order of
 * the sort: a page is the first rows of all of them together.
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
    const beyond = term ? beyondValue(term, places[depth] ?? null, row) : []
    return beyond.map((range) => [...equal, range].join(' and '))
  })
}

/** Fields without nulls in one direction: Postgres compares them as one. */
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

function beyondValue({ field, descending }: SortTerm, place: string | null, row: string): string[] {
  const column = `${row}.${quoteIdentifier(field.column)}`
  if (place === null) return descending ? [`${column} is not null`] : []
  const beyond = `${column} ${descending ? '<' : '>'} ${place}`
  return descending || !field.nullable ? [beyond] : [beyond, `${column} is null`]
}

const PositionOf = z.array(z.string().nullable())

/** The position a cursor stands for. Throws `invalid_cursor`. */
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

/** Also where a column that a position has a value of is of another type by now. */
export const foreignCursorError = (cause: unknown) =>
  new ApiError('invalid_cursor', 'The cursor does not belong to this list, sort and filter.', { cause })

/** What a listed row has in addition to its record's fields, none of which begins with a point: a sort field's value as Postgres writes it. */
const placeName = (index: number) => `.at${index}`

/** The values of the sort fields, to be selected for `extractPosition`: as they are answered they may be rounded, or a record. */
export const positionList = (terms: readonly SortTerm[], row: string): string =>
  terms
    .map(
      ({ field }, index) =>
        `${row}.${quoteIdentifier(field.column)}::text as ${quoteIdentifier(placeName(index))}`,
    )
    .join(', ')

/** Where a row stands; takes that out of it. */
export function extractPosition(row: Record<string, unknown>, terms: readonly SortTerm[]): Position {
  const names = terms.map((_, index) => placeName(index))
  const position = names.map((name) => {
    const value = row[name]
    return typeof value === 'string' ? value : null
  })
  // The last one first: rows without what came last keep a hidden class in common.
  for (const name of names.toReversed()) delete row[name]
  return position
}
