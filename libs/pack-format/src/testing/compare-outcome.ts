import type { ArtifactTest, TestDifference } from '@opsplane/contracts'
import { findDifferences } from './differences.js'

/** The parts of an artifact's outcome that a test compares. */
export interface TestOutcome {
  status: string
  output: unknown
  error: { code: string; message: string } | null
  logs: readonly { level: string; message: string }[]
}

/** Differences between the outcome and the test's expectation; `[]` if the test passed. */
export function compareOutcome(
  { expect }: Pick<ArtifactTest, 'expect'>,
  outcome: TestOutcome,
): TestDifference[] {
  return [...statusDifferences(expect, outcome), ...logDifferences(expect.logs ?? [], outcome.logs)]
}

type Expectation = ArtifactTest['expect']

function statusDifferences(expect: Expectation, outcome: TestOutcome): TestDifference[] {
  const { status, output, error } = outcome
  if (expect.error !== undefined) return errorDifferences(expect.error, outcome)
  if (status !== 'completed')
    return [
      {
        path: 'status',
        message: error ? `it ended with ${error.code}: ${error.message}` : `it ended as ${status}`,
        expected: 'completed',
        actual: status,
      },
    ]
  const result = output ?? null
  if (expect.output !== undefined)
    return findDifferences(expect.output, result, { path: 'output', partial: false })
  if (expect.outputIncludes !== undefined)
    return findDifferences(expect.outputIncludes, result, { path: 'output', partial: true })
  return []
}

function errorDifferences(
  expected: NonNullable<Expectation['error']>,
  { status, error }: TestOutcome,
): TestDifference[] {
  if (error === null)
    return [{ path: 'status', message: 'it was expected to fail', expected: 'failed', actual: status }]
  const found: TestDifference[] = []
  if (expected.code !== undefined && expected.code !== error.code)
    found.push({
      path: 'error/code',
      message: 'is another value',
      expected: expected.code,
      actual: error.code,
    })
  if (expected.message !== undefined && !error.message.includes(expected.message))
    found.push({
      path: 'error/message',
      message: 'has not the text in it',
      expected: expected.message,
      actual: error.message,
    })
  return found
}

/** The expected entries must appear in this order; other entries may be in between. */
function logDifferences(
  expected: NonNullable<Expectation['logs']>,
  logs: TestOutcome['logs'],
): TestDifference[] {
  let from = 0
  for (const [index, { level, message }] of expected.entries()) {
    const found = logs.findIndex(
      (entry, at) =>
        at >= from && (level === undefined || entry.level === level) && entry.message.includes(message),
    )
    if (found === -1) return [{ path: `logs/${index}`, message: 'was not logged', expected: message }]
    from = found + 1
  }
  return []
}
