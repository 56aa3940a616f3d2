import { createHash } from 'node:crypto'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a bundle was made of: it is outdated as soon as any of it is another. */
interface Stamp {
  /** Hash of what decides how it comes out, apart from the files. */
  madeWith: string
  /** Size and time of each file. */
  inputs: Record<string, string>
}

export interface StampsOptions {
  root: string
  /** Where they are kept. */
  file: string
  madeWith: readonly string[]
}

/** What each bundle was made of, by its name. */
export function createStamps({ root, file, madeWith: parts }: StampsOptions) {
  const madeWith = createHash('sha256').update(parts.join('\0')).digest('hex')
  const kept = stampsIn(file)
  const states = new Map<string, string>()
  const stateNow = (path: string): string => {
    const known = states.get(path) ?? stateOf(join(root, path))
    states.set(path, known)
    return known
  }
  return {
    /** Whether nothing has changed since its stamp was written. */
    isCurrent(name: string): boolean {
      const stamp = kept[name]
      return (
        stamp?.madeWith === madeWith &&
        Object.entries(stamp.inputs).every(([path, state]) => stateNow(path) === state)
      )
    },
    /** A file written since the bundles were begun makes them outdated at once. */
    write(made: readonly (readonly [name: string, inputs: readonly string[]])[], begunAtMs: number): void {
      for (const [name, inputs] of made) {
        const files = inputs.map((path): [string, string] => [path, stateOf(join(root, path), begunAtMs)])
        kept[name] = { madeWith, inputs: Object.fromEntries(files) }
      }
      writeFileSync(`${file}.${process.pid}`, JSON.stringify(kept))
      renameSync(`${file}.${process.pid}`, file)
    },
  }
}

/** None where the file is missing or was written by another version. */
function stampsIn(file: string): Record<string, Stamp> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, Stamp>
  } catch {
    return {}
  }
}

function stateOf(path: string, begunAtMs = Number.POSITIVE_INFINITY): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && stats.mtimeMs < begunAtMs ? `${stats.size} ${stats.mtimeMs}` : 'unknown'
}
