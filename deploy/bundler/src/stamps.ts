import { createHash } from 'node:crypto'
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The inputs of a bundle; the bundle is outdated as soon as any of them differs. */
interface Stamp {
  /** Hash of the settings that affect the output, apart from the files. */
  madeWith: string
  /** Size and modification time of each file. */
  inputs: Record<string, string>
}

export interface StampsOptions {
  root: string
  /** File that stores the stamps. */
  file: string
  madeWith: readonly string[]
}

/** Creates the stamps: the inputs of each bundle, by its name. */
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
    /** Whether no input has changed since the bundle's stamp was written. */
    isCurrent(name: string): boolean {
      const stamp = kept[name]
      return (
        stamp?.madeWith === madeWith &&
        Object.entries(stamp.inputs).every(([path, state]) => stateNow(path) === state)
      )
    },
    /** Bundles are outdated immediately if an input was written after `begunAtMs`. */
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

/** Empty if the file does not exist or was written by another version. */
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
