import { stringifyExact } from '@opsplane/contracts'
import type { Io } from './io.js'
import { type Column, oneLine, printable, renderTable } from './table.js'

/** Prints results: as JSON for programs, or as readable text. */
export interface Printer {
  /** Prints one object, one field per line. */
  one(value: unknown, fields: readonly (readonly [string, string | number | null])[]): void
  list<Item>(items: readonly Item[], columns: readonly Column<Item>[]): void
  /** Prints one item of a stream, each on a line. */
  line(value: unknown, text: string): void
  /** Prints several lines of readable text, or `value` as JSON. */
  text(value: unknown, lines: readonly string[]): void
  /** Prints progress and other messages that are not results, to standard error. */
  say(text: string): void
}

export function createPrinter(io: Io, json: boolean): Printer {
  const jsonLine = (value: unknown) => io.out(`${stringifyExact(value)}\n`)
  return {
    one(value, fields) {
      if (json) return jsonLine(value)
      const width = Math.max(...fields.map(([label]) => label.length))
      for (const [label, field] of fields)
        io.out(`${label.padEnd(width)}  ${field === null ? '-' : printable(String(field))}\n`)
    },
    list(items, columns) {
      if (json) return jsonLine(items)
      if (items.length === 0) return io.err('There are none.\n')
      io.out(renderTable(columns, items, io.columns))
    },
    line(value, text) {
      if (json) jsonLine(value)
      else io.out(`${oneLine(text, io.columns)}\n`)
    },
    text(value, lines) {
      if (json) return jsonLine(value)
      for (const line of lines) io.out(`${printable(line)}\n`)
    },
    say: (text) => io.err(`${printable(text)}\n`),
  }
}
