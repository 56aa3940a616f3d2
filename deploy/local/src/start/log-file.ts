import { openSync, write } from 'node:fs'
import { promisify } from 'node:util'

/** Destination of a logger's lines. */
export interface LogFile {
  write(line: string): void
  /** Resolves once everything written so far is in the file, or lost. */
  flushed(): Promise<void>
}

/** Maximum length of the lines waiting for the disk, in UTF-16 code units; further lines are lost. */
const maxWaiting = 8 * 1024 * 1024

/**
 * Appends to a file in the background. If a write fails, for example on a full disk, only its lines are lost: later
 * lines are still written. `report` receives a sentence when lines begin to be lost, and one when writing succeeds
 * again. Throws if the file cannot be opened.
 */
export function openLogFile(path: string, report: (text: string) => void): LogFile {
  const file = openSync(path, 'a', 0o600)
  let waiting: string[] = []
  let waitingBytes = 0
  let lost = 0
  let writing: Promise<void> | undefined

  const lose = (lines: number, reason: string) => {
    if (lost === 0)
      report(`${path} cannot be written (${reason}): lines of the log are lost. Everything else goes on.`)
    lost += lines
  }
  const writeAll = async () => {
    while (waiting.length > 0) {
      const lines = waiting
      waiting = []
      waitingBytes = 0
      try {
        await append(file, lines.join(''))
        if (lost === 0) continue
        const count = lost
        lost = 0
        report(`${path} can be written again; ${count} lines of the log are lost.`)
      } catch (error) {
        lose(lines.length, (error as NodeJS.ErrnoException).code ?? String(error))
      }
    }
  }

  return {
    write(line) {
      if (waitingBytes > maxWaiting) return lose(1, 'the disk is too slow')
      waiting.push(line)
      waitingBytes += line.length
      writing ??= writeAll().finally(() => {
        writing = undefined
      })
    },
    async flushed() {
      await writing
    },
  }
}

const writeSome = promisify(write)

/** A disk that fills up may write only a part. */
async function append(file: number, text: string): Promise<void> {
  for (let rest = Buffer.from(text); rest.length > 0; ) {
    const { bytesWritten } = await writeSome(file, rest)
    rest = rest.subarray(bytesWritten)
  }
}
