import type { CsvDelimiter, ImportFormat } from '@opsplane/contracts'
import type { TextStream } from '@opsplane/http'
import { quoteIdentifier, quoteLiteral } from '@opsplane/postgres'
import type { ListQuery } from '../list/list.js'
import { resolveListRequest } from '../list/list.js'
import { conditionsSql } from '../row/conditions.js'
import { type Field, jsonText, shownExpression } from '../row/fields.js'
import type { Condition } from '../row/filter.js'
import { Parameters, type Statement } from '../row/parameters.js'
import type { RecordAccess } from '../row/record-access.js'
import type { Caller } from '../row/resolved-table.js'
import type { Selection } from '../row/selection.js'
import { rethrowReadFailure } from '../row/shown-query.js'

export type ExportQuery = Pick<ListQuery, 'filter' | 'timeZone' | 'fields'> & TextForm

interface TextForm {
  format: ImportFormat
  /** CSV delimiter; default comma. */
  delimiter?: CsvDelimiter
  bom?: boolean
}

/**
 * Limits of one page: large enough to be worth a statement, small enough for memory. `firstRows` applies to the first
 * page, since the record size is still unknown.
 */
const page = { firstRows: 256, maxRows: 8_192, bytes: 8_388_608 }

const contentTypes: Record<ImportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
}

/**
 * Exports all matching records in id order, as text formatted by Postgres. Only a few pages are in memory at a time,
 * whatever the number of records. Concurrent changes are visible if made before their page is read.
 */
export function createExport(access: RecordAccess) {
  return async (slug: string, query: ExportQuery, meta: Caller & { now: string }): Promise<TextStream> => {
    const resolvedTable = await access.open(slug, meta)
    const { format, delimiter = ',', bom, ...shown } = query
    const resolvedList = await resolveListRequest(
      access,
      resolvedTable,
      { ...shown, sort: 'id', slow: true },
      meta,
    )
    const exported = { ...resolvedList, schema: resolvedTable.space.schema }
    const { fields } = resolvedList.selection

    const one = <T extends object>(statement: Statement): Promise<T | undefined> => {
      const reading = access
        .read<T>(resolvedTable.space, statement)
        .then(([found]) => found, rethrowReadFailure)
      // If the client disconnects, this promise is never awaited.
      reading.catch(() => {})
      return reading
    }
    const begin = (place: PagePlace): Reading => ({
      ...place,
      page: one<Page>(pageStatement(exported, { format, delimiter }, place)),
      end: place.after === '' ? undefined : one<PageEnd>(endStatement(exported, place)),
    })
    /** Starts reading the next page concurrently. */
    const readAhead = ({ end }: Reading, limit: number): Promise<Reading | undefined> | undefined => {
      const ahead = end?.then((found) => found && begin({ after: found.last, limit }))
      ahead?.catch(() => {})
      return ahead
    }
    async function* texts(): AsyncIterable<string> {
      if (format === 'csv') {
        const header = fields.map(({ name }) => cellOf(name, delimiter)).join(delimiter)
        yield `${bom ? '\ufeff' : ''}${header}\r\n`
      }
      let reading: Reading | undefined = begin({ after: '', limit: page.firstRows })
      let ahead: Promise<Reading | undefined> | undefined
      while (reading) {
        const read: Page | undefined = await reading.page
        if (!read?.text) return
        const isLast: boolean = read.rows < reading.limit && read.bytes < page.bytes
        const limit = rowsAfter(read)
        const next: Reading | undefined = await ahead
        // The byte limit may have ended the page before its row limit.
        if (next?.after === read.last) reading = next
        else reading = isLast ? undefined : begin({ after: read.last, limit })
        ahead = reading && readAhead(reading, limit)
        yield read.text
      }
    }
    const day = meta.now.slice(0, 10)
    return { fileName: `${slug}-${day}.${format}`, contentType: contentTypes[format], texts: texts() }
  }
}

interface PagePlace {
  /** The page begins after this id. */
  after: string
  limit: number
}

interface Reading extends PagePlace {
  page: Promise<Page | undefined>
  /**
   * The id of its last record if the page reaches its row limit. Not queried for the first
   * page, which is often the only one.
   */
  end: Promise<PageEnd | undefined> | undefined
}

interface PageEnd {
  last: string
}

interface Page extends PageEnd {
  text: string | null
  rows: number
  bytes: number
}

interface Exported {
  selection: Selection
  conditions: readonly Condition[]
  schema: string
}

/**
 * Number of rows of this size that fit a page, rounded up to a power of two: each distinct
 * limit is a separate prepared statement.
 */
const rowsAfter = ({ rows, bytes }: Page) =>
  Math.min(page.maxRows, 2 ** Math.ceil(Math.log2((page.bytes * rows) / bytes)))

const cellOf = (text: string, delimiter: CsvDelimiter): string =>
  text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

function pageStatement(
  exported: Exported,
  { format, delimiter }: Required<Omit<TextForm, 'bom'>>,
  place: PagePlace,
): Statement {
  const { fields } = exported.selection
  const parameters = new Parameters()
  const line =
    format === 'csv'
      ? `${fields.map((field) => csvCell(field, 'r')).join(` || ${quoteLiteral(delimiter)} || `)} || e'\\r\\n'`
      : `${fields.map(jsonMember).join(' || ')} || e'}\\n'`
  return {
    // A page ends with the row that reaches the byte limit, so its size is bounded whatever the row size.
    text: `select string_agg(line, '' order by id) as text, count(*)::int4 as rows, max(bytes)::int4 as bytes, max(id) as last from (
      select *, sum(octet_length(line)) over (order by id rows unbounded preceding) as bytes from (
        select r.id, ${line} as line from ${rowsBehind(exported, place, parameters)} limit ${place.limit}) found) page
      where bytes - octet_length(line) < ${page.bytes}`,
    parameters: parameters.values,
  }
}

function endStatement(exported: Exported, place: PagePlace): Statement {
  const parameters = new Parameters()
  const rows = rowsBehind(exported, place, parameters)
  return {
    text: `select r.id as last from ${rows} offset ${place.limit - 1} limit 1`,
    parameters: parameters.values,
  }
}

function rowsBehind(
  { selection, conditions, schema }: Exported,
  { after }: PagePlace,
  parameters: Parameters,
): string {
  const where = conditionsSql([...conditions, ...selection.rule], 'r', parameters)
  return `${quoteIdentifier(schema)}.${quoteIdentifier(selection.table.slug)} r where r.id > ${parameters.bind(after, 'text')} and ${where} order by r.id`
}

/** Includes the preceding comma and name in one literal: each concatenation costs as much as reading a value. */
const jsonMember = (field: Field, index: number) =>
  `${quoteLiteral(`${index === 0 ? '{' : ','}${JSON.stringify(field.name)}:`)} || ${jsonText(field, 'r')}`

/** Empty for null. Texts are always quoted: checking whether quotes are needed would cost more than everything else. */
function csvCell(field: Field, row: string): string {
  const value = shownExpression(field, row)
  if (!['text', 'enum', 'reference', 'json', 'array', 'other'].includes(field.kind))
    return `coalesce(${value}::text, '')`
  return `coalesce('"' || replace(${value}::text, '"', '""') || '"', '')`
}
