import { AuditExportEnd, parseExact } from '@opsplane/contracts'
import { CliError, UnreachableError } from './failure.js'

/** Where a copy goes. */
export interface Sink {
  write(text: string): Promise<void>
  /** It is whole. */
  finish(): Promise<void>
  /** It is not, and is of no use. */
  discard(): Promise<void>
}

const manyEvents = 10_000

/**
 * Copies an export as it comes, with its last line, which says that it is all. Returns how many events it has. Throws
 * CliError when that line is missing or counts others; what was written is then of no use.
 */
export async function copyExport(
  lines: AsyncIterable<string[]>,
  sink: Sink,
  say: (line: string) => void,
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
      if (Math.floor(count / manyEvents) > Math.floor(before / manyEvents)) say(`${count} events so far.`)
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
