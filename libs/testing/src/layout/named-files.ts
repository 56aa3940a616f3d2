import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A test that a document names: a file, and some of what it tests by their titles. */
export interface NamedTest {
  file: string
  titles: string[]
}

/** The files in backquotes of a document that lie in the repository, by their paths from its root. */
export const filesIn = (markdown: string): string[] => [
  ...new Set(
    [...markdown.matchAll(/`((?:bench|cli|client|deploy|libs|services|test-e2e)\/[\w./-]+\.\w+)`/g)].map(
      ([, path = '']) => path,
    ),
  ),
]

/**
 * The tests in the last cell of each row of a table. A path without its package is one of the service named before it in the
 * row: next to the file, or below `src`.
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

/** What is wrong with a named test; undefined where it is there, with everything it is said to have. */
export function findTestFault({ file, titles }: NamedTest, root: string): string | undefined {
  if (!existsSync(join(root, file))) return `${file} does not exist`
  const source = readFileSync(join(root, file), 'utf8')
  const missing = titles.filter((title) => !source.includes(title))
  return missing.length > 0 ? `${file} has no "${missing.join('", "')}"` : undefined
}
