import { readFile, stat } from 'node:fs/promises'

/** Reads a system file, and parses it again after a change. An unreadable file counts as empty. */
export function createConfigFile<T>(path: string, parse: (text: string) => T): () => Promise<T> {
  let known: { version: string; value: T } | undefined

  return async () => {
    const version = await versionOf(path)
    if (known?.version === version) return known.value
    const value = parse(await readFile(path, 'utf8').catch(() => ''))
    known = { version, value }
    return value
  }
}

async function versionOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return [ino, size, mtimeNs, ctimeNs].join()
  } catch {
    return 'absent'
  }
}

/** The words of each line, without comments and empty lines. */
export function parseConfigLines(text: string, comment: RegExp): string[][] {
  return text
    .split('\n')
    .map((line) => line.replace(comment, '').trim())
    .filter((line) => line !== '')
    .map((line) => line.split(/\s+/))
}
