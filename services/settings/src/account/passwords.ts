import { ApiError } from '@opsplane/contracts'
import { createSemaphore } from '@opsplane/runtime'

export type HashSource = string | null | (() => Promise<string | null>)

export interface Passwords {
  hash(password: string): Promise<string>
  /**
   * Without a hash (unknown login) it returns false after the same time. A hash given as a function is loaded when the
   * password reaches the front of the queue.
   */
  matches(password: string, hash: HashSource): Promise<boolean>
}

/** Argon2id with the parameters recommended by OWASP: 19 MiB, two passes, one lane. */
const agreedCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
export type PasswordCost = typeof agreedCost

/** Loaded with the first password, not at startup. */
const argon2 = () => import('@node-rs/argon2')

/**
 * Hashes passwords with bounded concurrency, because each hash takes memory and a core. If the queue is full, both
 * methods throw `service_unavailable`.
 */
export function createPasswords(
  { concurrency, maxWaiting }: { concurrency: number; maxWaiting: number },
  cost = agreedCost,
): Passwords {
  const inTurn = createSemaphore(concurrency, {
    max: maxWaiting,
    refusal: () => new ApiError('service_unavailable', 'Too many logins at once. Try again in a moment.'),
  })
  let unmatchable: Promise<string> | undefined

  return {
    hash: (password) => inTurn(async () => (await argon2()).hash(password, cost)),
    matches: (password, source) =>
      inTurn(async () => {
        const { hash, verify } = await argon2()
        const known = typeof source === 'function' ? await source() : source
        unmatchable ??= hash('no password has this hash', cost)
        const matches = await verify(known ?? (await unmatchable), password)
        return matches && known !== null
      }),
  }
}
