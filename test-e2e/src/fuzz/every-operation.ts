import { expect } from '@jest/globals'
import type { Operation } from './document.js'
import type { FuzzResources } from './resources.js'

/** Number of families of operations tried concurrently. */
const familiesAtOnce = 3

// In the same family, because a running migration rejects changes to its tables.
const familyOf = ({ path }: Operation) => path.split('/', 2)[1]?.replace(/^(queries|migrations)$/, 'tables')

/** Operations by the first part of their paths, the largest family last. */
export const groupByFamily = (operations: readonly Operation[]): Operation[][] =>
  [...new Set(operations.map(familyOf))]
    .map((family) => operations.filter((operation) => familyOf(operation) === family))
    .toSorted((a, b) => a.length - b.length)

/** Tries something with every operation, sequentially within a family, and reports all problems together. */
export async function everyOperation(
  operations: readonly Operation[],
  world: FuzzResources,
  work: (operation: Operation) => Promise<string[]>,
): Promise<void> {
  const wrong: string[] = []
  const rest = groupByFamily(operations)
  const worker = async () => {
    for (let family = rest.pop(); family; family = rest.pop())
      for (const operation of family) {
        const problems = await work(operation).catch((error: unknown) => [`could not be tried: ${error}`])
        wrong.push(...problems.map((problem) => `${operation.id}: ${problem}`))
        await world.removeMade(operation)
      }
  }
  await Promise.all(Array.from({ length: familiesAtOnce }, worker))
  expect(wrong).toEqual([])
}
