import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'

/** An import between two files of a service; both as paths below its `src`. */
export interface Arrow {
  from: string
  to: string
}

/** Tests and fixtures may import from everywhere. */
const isOfTests = (path: string) => /\.(test|fixture)\.tsx?$|(^|\/)(fixture|testing)\//.test(path)

/** The TypeScript files below a folder except tests, as relative paths. */
export function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !isOfTests(path))
}

/** Imports between the files of a folder, including types. */
export function arrowsWithin(folder: string): Arrow[] {
  return sourcesBelow(folder).flatMap((from) =>
    importedBy(readFileSync(join(folder, from), 'utf8')).map((path) => ({
      from,
      to: normalize(join(dirname(from), path)).replace(/\.js$/, '.ts'),
    })),
  )
}

/** Relative imports, including types and re-exports. */
export function importedBy(source: string): string[] {
  return [...source.matchAll(/(?:from |import\(|import )'(\.[^']+)'/g)].flatMap(([, path]) => path ?? [])
}
