import type { JsonValue, TestDifference } from '@opsplane/contracts'

/** Maximum number of differences: a completely different value is reported by its first few. */
const maxDifferences = 20

/**
 * Differences between `actual` and `expected`, with paths such as `output/items/0`. With `partial`, objects may have
 * additional fields at any depth.
 */
export function findDifferences(
  expected: unknown,
  actual: unknown,
  { path, partial }: { path: string; partial: boolean },
): TestDifference[] {
  const found: TestDifference[] = []
  compare(expected, actual, path)
  return found

  function compare(left: unknown, right: unknown, at: string): void {
    if (found.length >= maxDifferences || Object.is(left, right)) return
    if (Array.isArray(left) && Array.isArray(right) && left.length === right.length)
      for (const [index, item] of left.entries()) compare(item, right[index], `${at}/${index}`)
    else if (isObject(left) && isObject(right)) compareFields(left, right, at)
    else found.push(difference(left, right, at))
  }
  function compareFields(left: Record<string, unknown>, right: Record<string, unknown>, at: string): void {
    const names = partial ? Object.keys(left) : [...new Set([...Object.keys(left), ...Object.keys(right)])]
    for (const name of names) {
      const [inLeft, inRight] = [fieldOf(left, name), fieldOf(right, name)]
      compare(inLeft, inRight, `${at}/${name}`)
    }
  }
}

const fieldOf = (value: Record<string, unknown>, name: string) =>
  Object.hasOwn(value, name) ? value[name] : undefined

function difference(expected: unknown, actual: unknown, path: string): TestDifference {
  const message =
    expected === undefined ? 'was not expected' : actual === undefined ? 'is missing' : 'is another value'
  return {
    path,
    message,
    // Both sides are JSON or `undefined`.
    ...(expected !== undefined && { expected: expected as JsonValue }),
    ...(actual !== undefined && { actual: actual as JsonValue }),
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
