import { randomUUID } from 'node:crypto'
import { type RepeatedAnswer, repetitionProblems } from '@opsplane/testing'
import { type Operation, parametersIn } from './document.js'
import type { Answer, Sent } from './exchange.js'

/** These requests are passed to an artifact, including the idempotency key. */
export const isPassedOn = /^\/sdk\/artifacts\/\{id\}\/api\//

/** Operations that accept an Idempotency-Key but cannot be repeated with it, with the reason. */
export const neverRepeated: Record<string, string> = {
  endSession: 'its credential is gone with the session',
  changePassword: 'its credential is gone with the old password',
}

const isKeyed = (operation: Operation): boolean =>
  parametersIn(operation, 'header').some(({ name }) => name === 'Idempotency-Key') &&
  !isPassedOn.test(operation.path)

/** A header with a new Idempotency-Key, if the operation accepts one. */
export const newKey = (operation: Operation): Record<string, string> =>
  isKeyed(operation) ? { 'idempotency-key': randomUUID() } : {}

/**
 * Repeats a request that succeeded with a key; returns the differences from the first response, and records the
 * operations repeated.
 */
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
