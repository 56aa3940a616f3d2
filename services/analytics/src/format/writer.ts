import type { JsonValue } from '@opsplane/contracts'
import { appendBytes, type ByteSink } from './byte-sink.js'
import type { Row } from './column.js'
import { appendLines, type LineFormat } from './composite.js'

/** State a writer needs to continue its file in another process. */
export type WriterState = JsonValue

/**
 * Writes one file sequentially, in constant memory. After `flush`, the bytes returned so far and `state` suffice to
 * continue in another process: the bytes that follow extend the same file.
 */
export interface FormatWriter {
  /** Accepts rows and returns the bytes that are ready. Throws `FileLimitError` if the format cannot contain them. */
  write(rows: readonly Row[]): Promise<Uint8Array>
  /**
   * Writes consecutive rows in the Postgres composite format; only for line-based text formats. Skips the conversion to
   * JavaScript values, which takes several times as long as everything else. Returns the number of rows.
   */
  writeComposites?(sink: ByteSink, rows: Uint8Array): number
  /** Approximate number of bytes accepted but not yet returned. */
  bufferedBytes(): number
  /** Returns buffered bytes, so that the file can be continued from `state`. */
  flush(): Promise<Uint8Array>
  state(): WriterState
  /** Ends the file and returns all buffered bytes. */
  end(): Promise<Uint8Array>
  /** User-readable warnings about values that could not be written unchanged. */
  warnings(): string[]
}

/** The format cannot contain a file of this size; a retry is pointless. */
export class FileLimitError extends Error {
  override name = 'FileLimitError'
}

/** A writer whose rows are independent lines of text; it buffers nothing. */
export function textWriter(parts: {
  first: string
  line(row: Row): string
  lines: LineFormat
  /** Written between two lines. */
  between: string
  last: string
  state: WriterState | undefined
}): FormatWriter {
  let written = typeof parts.state === 'number' ? parts.state : 0
  let begun = parts.state !== undefined
  const startText = () => {
    const text = begun ? '' : parts.first
    begun = true
    return text
  }
  const nothing = new Uint8Array()
  const between = Buffer.from(parts.between)
  const lines = { ...parts.lines, between }
  return {
    async write(rows) {
      let text = startText()
      for (const row of rows) {
        if (written++ > 0) text += parts.between
        text += parts.line(row)
      }
      return Buffer.from(text)
    },
    writeComposites(sink, rows) {
      appendBytes(sink, Buffer.from(startText()))
      if (written > 0 && rows.length > 0) appendBytes(sink, between)
      const count = appendLines(sink, rows, lines)
      written += count
      return count
    },
    bufferedBytes: () => 0,
    flush: async () => nothing,
    state: () => written,
    end: async () => Buffer.from(startText() + parts.last),
    warnings: () => [],
  }
}
