import { SourceMap, type SourceMapPayload } from 'node:module'
import { runFunction } from './protocol.js'

const marker = '\n//# sourceMappingURL=data:application/json;base64,'
const place = /\(?artifact\.js:(\d+):(\d+)\)?/

/** Splits the output of `compile` into the script and its source map. */
export function splitMap(code: string): { script: string; map: string | undefined } {
  const at = code.lastIndexOf(marker)
  return at < 0
    ? { script: code, map: undefined }
    : { script: code.slice(0, at), map: code.slice(at + marker.length) }
}

export const joinMap = (script: string, map: string): string =>
  `${script}${marker}${Buffer.from(map).toString('base64')}`

const ownFrames = new Set(['    at apply (native)', '    at Promise (native)'])

/**
 * Two frames of a function that the compiler has wrapped become one, with the name of the outer and the position of the
 * inner.
 */
const wrapped = new RegExp(`at <anonymous> (.*)\\n +at \\${runFunction} .*\\n +at (\\S+) .*`, 'g')

/** Maps a stack trace to lines of the source, without frames of the prelude and of code added by the compiler. */
export function sourceStack(stack: string, map: string | undefined): string {
  const lines = stack
    .split('\n')
    .filter((line) => !line.includes('(prelude.js:') && !ownFrames.has(line))
    .join('\n')
    .replace(wrapped, 'at $2 $1')
    .split('\n')
  if (map === undefined) return lines.join('\n').trimEnd()
  const found = readMap(map)
  if (!found) return lines.join('\n').trimEnd()
  return lines
    .map((line) =>
      line.replace(place, (text, row: string, column: string) => {
        const entry = found.findEntry(Number(row) - 1, Number(column) - 1)
        if (!('originalLine' in entry)) return text
        return `(${entry.originalSource}:${entry.originalLine + 1}:${entry.originalColumn + 1})`
      }),
    )
    .join('\n')
    .trimEnd()
}

function readMap(map: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(Buffer.from(map, 'base64').toString()) as SourceMapPayload)
  } catch {
    return undefined
  }
}
