import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'

/** A file of a service that imports another one of it; both as paths below its `src`. */
export interface Arrow {
  from: string
  to: string
}

/** Tests and what they share may import from everywhere. */
const isOfTests = (path: string) => /\.(test|fixture)\.tsx?$|(^|\/)(fixture|testing)\//.test(path)

/** The TypeScript files below a folder that are no tests, as paths below it. */
export function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !isOfTests(path))
}

/** What the files of a folder import of each other, types included. */
export function arrowsWithin(folder: string): Arrow[] {
  return sourcesBelow(folder).flatMap((from) =>
    importedBy(readFileSync(join(folder, from), 'utf8')).map((path) => ({
      from,
      to: normalize(join(dirname(from), path)).replace(/\.js$/, '.ts'),
    })),
  )
}

/** Relative imports, also those of types and of what is exported again. */
export function importedBy(source: string): string[] {
  return [...source.matchAll(/(?:from |import\(|import )'(\.[^']+)'/g)].flatMap(([, path]) => path ?? [])
}
