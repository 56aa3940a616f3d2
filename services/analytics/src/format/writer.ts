import type { JsonValue } from '@opsplane/contracts'
import { appendBytes, type ByteSink } from './byte-sink.js'
import type { Row } from './column.js'
import { appendLines, type LineFormat } from './composite.js'

/** What a writer has to remember to go on with its file in another process. */
export type WriterState = JsonValue

/**
 * Writes one file in order, in constant memory. After `flush` what was returned so far, and `state`, are all that is needed to
 * go on elsewhere: the bytes that follow continue the file.
 */
export interface FormatWriter {
  /** Takes rows, and returns the bytes that are ready. Throws FileLimitError for what the format has no room for. */
  write(rows: readonly Row[]): Promise<Uint8Array>
  /**
   * The same of rows as Postgres writes composite values, one behind the other, of formats that are lines of text: their values need
   * not become those of this runtime in between, which takes several times as long as all the rest. The number of rows.
   */
  writeComposites?(sink: ByteSink, rows: Uint8Array): number
  /** About how many bytes it has taken and not returned. */
  bufferedBytes(): number
  /** Returns what is held, so that the file can be continued from `state`. */
  flush(): Promise<Uint8Array>
  state(): WriterState
  /** Ends the file with everything that is held. */
  end(): Promise<Uint8Array>
  /** What of the rows could not be written as it is, for people. */
  warnings(): string[]
}

/** The format has no room for the file: trying again is of no use. */
export class FileLimitError extends Error {
  override name = 'FileLimitError'
}

/** A writer whose rows are text by themselves; it holds nothing back. */
export function textWriter(parts: {
  first: string
  line(row: Row): string
  lines: LineFormat
  /** Between two lines. */
  between: string
  last: string
  state: WriterState | undefined
}): FormatWriter {
  let written = typeof parts.state === 'number' ? parts.state : 0
  let begun = parts.state !== undefined
  const beginning = () => {
    const text = begun ? '' : parts.first
    begun = true
    return text
  }
  const nothing = new Uint8Array()
  const between = Buffer.from(parts.between)
  const lines = { ...parts.lines, between }
  return {
    async write(rows) {
      let text = beginning()
      for (const row of rows) {
        if (written++ > 0) text += parts.between
        text += parts.line(row)
      }
      return Buffer.from(text)
    },
    writeComposites(sink, rows) {
      appendBytes(sink, Buffer.from(beginning()))
      if (written > 0 && rows.length > 0) appendBytes(sink, between)
      const count = appendLines(sink, rows, lines)
      written += count
      return count
    },
    bufferedBytes: () => 0,
    flush: async () => nothing,
    state: () => written,
    end: async () => Buffer.from(beginning() + parts.last),
    warnings: () => [],
  }
}
