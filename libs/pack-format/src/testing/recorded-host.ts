import type { ArtifactTest, JsonValue, RecordedCall, TestDifference } from '@opsplane/contracts'
import { findDifferences } from './differences.js'

type RecordedAnswer = { returns: JsonValue } | { throws: { code: string; message: string } }

/** Replaces all host functions during one test run. */
export interface RecordedHost {
  /** `input` is the argument of the call. A call that was not recorded throws `unrecorded_call`. */
  answer(name: string, input: JsonValue | undefined): RecordedAnswer
  /** Differences between the calls and the recording; to be read after the run. */
  differences(): TestDifference[]
}

export function recordedHost({ host, anyOrder }: Pick<ArtifactTest, 'host' | 'anyOrder'>): RecordedHost {
  const recorded = host.map((call, index) => ({ call, index, made: 0 }))
  const unexpected: TestDifference[] = []
  let calls = 0

  const next = (name: string, input: JsonValue | undefined) => {
    const open = recorded.filter(({ call, made }) => made < call.times)
    return (anyOrder ? open : open.slice(0, 1)).find(({ call }) => isMatch(call, name, input))
  }
  const awaited = () => recorded.find(({ call, made }) => made < call.times)

  return {
    answer(name, input) {
      const number = calls++
      const found = next(name, input)
      if (found) {
        found.made++
        const { throws, returns = null } = found.call
        return throws ? { throws } : { returns }
      }
      unexpected.push(...unrecorded(name, input, number, anyOrder ? undefined : awaited()))
      return {
        throws: { code: 'unrecorded_call', message: `The test has no such call of ${name} recorded.` },
      }
    },
    differences: () => [
      ...unexpected,
      ...recorded.flatMap(({ call, index, made }) =>
        made === call.times
          ? []
          : [
              {
                path: `host/${index}`,
                message: `${call.call} was called ${made} of ${call.times} times`,
                expected: call.times,
                actual: made,
              },
            ],
      ),
    ],
  }
}

const isMatch = (call: RecordedCall, name: string, input: JsonValue | undefined): boolean =>
  call.call === name &&
  (call.with === undefined || findDifferences(call.with, input, { path: '', partial: true }).length === 0)

/** Compares field by field if the next expected call is of the same function. */
function unrecorded(
  name: string,
  input: JsonValue | undefined,
  number: number,
  awaited: { call: RecordedCall; index: number } | undefined,
): TestDifference[] {
  if (awaited?.call.call === name && awaited.call.with !== undefined)
    return findDifferences(awaited.call.with, input, { path: `host/${awaited.index}/with`, partial: true })
  const instead = awaited ? `, where ${awaited.call.call} comes next` : ''
  return [
    {
      path: `host/${awaited?.index ?? number}`,
      message: `${name} was called${instead}, which the test has not recorded`,
      ...(input !== undefined && { actual: input }),
    },
  ]
}
