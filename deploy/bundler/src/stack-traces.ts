import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { findSourceLine, type LineTable } from './line-table.js'

/**
 * Makes stack traces name our sources instead of a bundle. The table is read when the first trace is formatted.
 * Node's own `--enable-source-maps` needs a third of a second for the map, and does not support scripts with a code
 * cache.
 */
export function nameSources(file: string, tableFile: string): void {
  let table: LineTable | undefined
  const shown = (frame: NodeJS.CallSite): string => {
    const text = String(frame)
    const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()]
    if (frame.getFileName() !== file || line === null) return text
    table ??= readTable(tableFile)
    const origin = findSourceLine(table, line)
    return origin
      ? text.replace(`${file}:${line}:${column}`, `${resolve(dirname(file), origin.source)}:${origin.line}`)
      : text
  }
  Error.prepareStackTrace = (error, frames) =>
    [Error.prototype.toString.call(error), ...frames.map(shown)].join('\n    at ')
}

/** Empty if the file does not exist: the bundle was rebuilt after the process started. */
function readTable(file: string): LineTable {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as LineTable
  } catch {
    return { sources: [], runs: [] }
  }
}
