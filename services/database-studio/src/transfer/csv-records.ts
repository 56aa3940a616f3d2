import type { CsvDelimiter } from '@opsplane/contracts'
import { CsvError, parse } from 'csv-parse'

/** The whole file cannot be parsed, for example because a quote is not closed. */
export class UnreadableFileError extends Error {}

/** Null for an empty unquoted cell; an empty quoted cell is an empty text. */
export type CsvCell = string | null

export interface CsvRecord {
  /** The line on which it begins, starting at 1. */
  line: number
  cells: readonly CsvCell[]
}

export const maxLineLength = 1_048_576

/** The records of a file, streamed. Throws UnreadableFileError with the line. */
export async function* csvRecords(
  parts: AsyncIterable<Buffer>,
  delimiter: CsvDelimiter,
): AsyncIterable<CsvRecord> {
  let line = 1
  let emptyLines = 0
  const begins = new WeakMap<readonly CsvCell[], number>()
  const parser = parse({
    bom: true,
    delimiter,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxLineLength,
    cast: (cell, { quoting }) => (cell === '' && !quoting ? null : cell),
    // Recorded during parsing: records not consumed yet are lost when a later one fails to parse.
    on_record(cells, { empty_lines: skipped }) {
      const begun = line + skipped - emptyLines
      emptyLines = skipped
      line = begun + 1 + cells.reduce((sum, cell) => sum + breaksIn(cell), 0)
      begins.set(cells, begun)
      return cells
    },
  })
  const feeding = feed(parser, parts)
  try {
    for await (const cells of parser as AsyncIterable<readonly CsvCell[]>)
      yield { line: begins.get(cells) ?? line, cells }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const skipped = Number(error.empty_lines ?? emptyLines) - emptyLines
    throw new UnreadableFileError(
      `The file is no CSV: the row that begins on line ${line + skipped} ${faultOf(error)}.`,
    )
  } finally {
    parser.destroy()
    await feeding
  }
}

const faults: Partial<Record<string, string>> = {
  INVALID_OPENING_QUOTE:
    'has a quote within a cell that does not begin with one: put such a cell in quotes, and double each quote within it',
  CSV_INVALID_CLOSING_QUOTE:
    'has text behind the quote that ends a cell: double each quote within a cell that is in quotes',
  CSV_QUOTE_NOT_CLOSED: 'has a quote that is not closed before the end of the file',
  CSV_MAX_RECORD_SIZE: `has more than ${maxLineLength} characters`,
}

const faultOf = ({ code, message }: CsvError) => faults[code] ?? `cannot be read: ${message}`

/** The parser counts a CR LF inside quotes as two lines. */
const breaksIn = (cell: CsvCell): number =>
  cell === null || !/[\r\n]/.test(cell) ? 0 : cell.split(/\r\n|\r|\n/).length - 1

/** Writes the parts to the parser with backpressure. */
async function feed(parser: ReturnType<typeof parse>, parts: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const part of parts) {
      if (parser.destroyed) return
      if (!parser.write(part))
        await new Promise<void>((resolve) => {
          parser.once('drain', resolve)
          parser.once('close', resolve)
        })
    }
    if (!parser.destroyed) parser.end()
  } catch (error) {
    parser.destroy(error as Error)
  }
}
