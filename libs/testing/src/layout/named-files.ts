import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A test named in a document: a file, and the titles of some of its tests. */
export interface NamedTest {
  file: string
  titles: string[]
}

/** The repository files in backquotes in a document, by their paths from the root. */
export const filesIn = (markdown: string): string[] => [
  ...new Set(
    [...markdown.matchAll(/`((?:bench|cli|client|deploy|libs|services|test-e2e)\/[\w./-]+\.\w+)`/g)].map(
      ([, path = '']) => path,
    ),
  ),
]

/**
 * The tests in the last cell of each table row. A path without a package belongs to the service named before it in the
 * row: it is next to that file, or below `src`.
 */
export function testsIn(markdown: string, root: string): NamedTest[] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((line) => testsOf(line.split('|').at(-2) ?? '', root))
}

function testsOf(cell: string, root: string): NamedTest[] {
  const found: NamedTest[] = []
  for (const [, path, title] of cell.matchAll(/`([\w./-]+\.test\.tsx?)`|"([^"]+)"/g)) {
    if (path !== undefined) found.push({ file: resolved(path, found.at(-1)?.file, root), titles: [] })
    else if (title !== undefined) found.at(-1)?.titles.push(title)
  }
  return found
}

function resolved(path: string, before: string | undefined, root: string): string {
  if (before === undefined || existsSync(join(root, path))) return path
  const sibling = join(dirname(before), path)
  return existsSync(join(root, sibling)) ? sibling : before.replace(/\/src\/.*/, `/src/${path}`)
}

/** Returns the fault of a named test; `undefined` if the file exists and contains all titles. */
export function findTestFault({ file, titles }: NamedTest, root: string): string | undefined {
  if (!existsSync(join(root, file))) return `${file} does not exist`
  const source = readFileSync(join(root, file), 'utf8')
  const missing = titles.filter((title) => !source.includes(title))
  return missing.length > 0 ? `${file} has no "${missing.join('", "')}"` : undefined
}
