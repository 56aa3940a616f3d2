import { AuditExportEnd, parseExact } from '@opsplane/contracts'
import { CliError, UnreachableError } from './failure.js'

/** Destination of an export. */
export interface Sink {
  write(text: string): Promise<void>
  /** Called when the export is complete. */
  finish(): Promise<void>
  /** Called when the export is incomplete; what was written must not be used. */
  discard(): Promise<void>
}

const manyEvents = 10_000

/**
 * Copies an export to `sink` as it arrives, including its last line, which confirms that it is complete. Returns the
 * number of events. Throws CliError if that line is missing or states another number; the written output is then
 * unusable.
 */
export async function copyExport(
  lines: AsyncIterable<string[]>,
  sink: Sink,
  report: (line: string) => void,
): Promise<number> {
  let count = 0
  let last: string | undefined
  try {
    for await (const part of lines) {
      const known = last === undefined ? part : [last, ...part]
      last = known.pop()
      if (known.length > 0) await sink.write(`${known.join('\n')}\n`)
      const before = count
      count += known.length
      if (Math.floor(count / manyEvents) > Math.floor(before / manyEvents)) report(`${count} events so far.`)
    }
    checkEnd(last, count)
    await sink.write(`${last}\n`)
    await sink.finish()
    return count
  } catch (error) {
    throw error instanceof UnreachableError ? cutOff(count, error) : error
  }
}

function checkEnd(last: string | undefined, count: number): void {
  const end = AuditExportEnd.safeParse(jsonOf(last))
  if (!end.success) throw new UnreachableError('its last line did not come')
  if (end.data.count === count) return
  throw new CliError(`The export says it has ${end.data.count} events, but ${count} arrived.`, 1)
}

const cutOff = (count: number, cause: Error) =>
  new UnreachableError(
    `The export was cut off after ${count} events (${cause.message}). Start it again.`,
    cause,
  )

function jsonOf(line: string | undefined): unknown {
  try {
    return parseExact(line ?? '')
  } catch {
    return undefined
  }
}
