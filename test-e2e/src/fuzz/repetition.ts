import { randomUUID } from 'node:crypto'
import { type RepeatedAnswer, repetitionProblems } from '@opsplane/testing'
import { type Operation, parametersIn } from './document.js'
import type { Answer, Sent } from './exchange.js'

/** What is sent there is for an artifact to judge, and its key with it. */
export const isPassedOn = /^\/sdk\/artifacts\/\{id\}\/api\//

/** Operations that take an Idempotency-Key and cannot be repeated with it, and why. */
export const neverRepeated: Record<string, string> = {
  endSession: 'its credential is gone with the session',
  changePassword: 'its credential is gone with the old password',
}

const isKeyed = (operation: Operation): boolean =>
  parametersIn(operation, 'header').some(({ name }) => name === 'Idempotency-Key') &&
  !isPassedOn.test(operation.path)

/** A header with a new Idempotency-Key, for what takes one. */
export const newKey = (operation: Operation): Record<string, string> =>
  isKeyed(operation) ? { 'idempotency-key': randomUUID() } : {}

/** Sends what succeeded with a key once more; says what is not as it was sent, and notes which operations it did so with. */
export function repeater(send: (sent: Sent) => Promise<Answer>) {
  const repeated = new Set<string>()
  return {
    async problems(operation: Operation, sent: Sent, first: Answer): Promise<string[]> {
      if (!isKeyed(operation) || operation.id in neverRepeated) return []
      repeated.add(operation.id)
      return repetitionProblems(asRepeated(first), asRepeated(await send(sent)))
    },
    missing: (operations: readonly Operation[]): string[] =>
      operations
        .filter((each) => isKeyed(each) && !repeated.has(each.id) && !(each.id in neverRepeated))
        .map(({ id }) => id),
  }
}

const asRepeated = ({ status, json, headers }: Answer): RepeatedAnswer => ({
  ...{ status, body: json },
  header: (name) => headers[name]?.toString(),
})
