import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What bundles were made of: they are outdated as soon as any of it is another. */
interface Stamp {
  /** Hash of what decides how they come out beside the files. */
  madeWith: string
  /** Size and time of each file. */
  inputs: Record<string, string>
}

export interface StampOptions {
  root: string
  /** Where it is kept. */
  file: string
  madeWith: readonly string[]
}

/** Whether nothing has changed since `writeStamp`. */
export function isCurrent({ root, file, madeWith }: StampOptions): boolean {
  if (!existsSync(file)) return false
  const stamp = JSON.parse(readFileSync(file, 'utf8')) as Stamp
  if (stamp.madeWith !== hashOf(madeWith)) return false
  return Object.entries(stamp.inputs).every(([path, state]) => stateOf(join(root, path)) === state)
}

/** Keeps what the bundles were made of. A file written since they were begun makes them outdated at once. */
export function writeStamp(
  { root, file, madeWith }: StampOptions,
  { inputs, begunAtMs }: { inputs: readonly string[]; begunAtMs: number },
): void {
  const states = inputs.map((path): [string, string] => [path, stateOf(join(root, path), begunAtMs)])
  const stamp: Stamp = { madeWith: hashOf(madeWith), inputs: Object.fromEntries(states) }
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(stamp))
  renameSync(`${file}.${process.pid}`, file)
}

function stateOf(path: string, begunAtMs = Number.POSITIVE_INFINITY): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && stats.mtimeMs < begunAtMs ? `${stats.size} ${stats.mtimeMs}` : 'unknown'
}

const hashOf = (parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\0')).digest('hex')
