import { isDeepStrictEqual } from 'node:util'
import {
  ApiError,
  type CommandMeta,
  canonicalJson,
  IdempotencyRaceError,
  type StoredResponse,
  type TenantScope,
} from '@opsplane/contracts'
import { hmacSha256, type Logger, sha256Hex } from '@opsplane/runtime'
import type { Answer } from './exchange.js'

/** Storage of keys. A `null` response means the request is still in progress. */
export interface IdempotencyStore {
  find(key: string): Promise<{ fingerprint: string; response: StoredResponse | null } | undefined>
  /**
   * Claims a key for a request without its own transaction; `undefined` if it is already claimed. The claim expires
   * `claimMs` after it was made or last renewed; with `isRepetition`, the same request can claim the key immediately.
   * The returned value identifies the claim: once another one exists, operations with the old one have no effect.
   */
  claim(key: string, fingerprint: string, isRepetition: boolean): Promise<string | undefined>
  renew(key: string, claim: string): Promise<void>
  complete(key: string, claim: string, response: StoredResponse): Promise<void>
  /** Stores the response of a request that owns its key, replacing the previous one. */
  replace(key: string, fingerprint: string, response: StoredResponse): Promise<void>
  /** Releases a claimed key after a failure. */
  release(key: string, claim: string): Promise<void>
}

/** Time after which the claim of a dead process expires. */
export const claimMs = 30_000

/** One request with an Idempotency-Key. */
export interface Attempt {
  mode: 'transaction' | 'claim' | 'repeat'
  key: string
  fingerprint: string
  meta: CommandMeta
  /** Runs the handler and returns its data. */
  perform(): Promise<unknown>
  answer(data: unknown): Answer
  /** The response in the form that may be stored. */
  respond(data: unknown): StoredResponse
}

const printable = /^[\x20-\x7e]{1,255}$/

/** Throws `idempotency_key_invalid` unless it is 1 to 255 printable ASCII characters. */
export function checkKey(key: string): void {
  if (printable.test(key)) return
  throw new ApiError(
    'idempotency_key_invalid',
    'An Idempotency-Key has 1 to 255 printable ASCII characters.',
    {
      details: [
        { in: 'header', path: '/idempotency-key', code: 'invalid_format', message: 'is not a usable key' },
      ],
    },
  )
}

/** The key within its scope: the same key of another caller, or for another operation, is a different key. */
export function scopedKey(request: {
  tenant: TenantScope
  actorId: string
  method: string
  path: string
  key: string
}): string {
  const { tenant, actorId, method, path, key } = request
  return sha256Hex([tenant.workspaceId, tenant.environment, actorId, method, path, key].join('\0'))
}

/**
 * Equal for equal content under one key, whatever the order of fields and parameters. Keyed with the client's original
 * key, which is not stored, so a stored fingerprint cannot be used to guess a secret in the content.
 */
export function computeFingerprint(key: string, body: unknown, query: unknown): string {
  return hmacSha256(key, `${canonicalJson(query)}\0${canonicalJson(body)}`).toString('hex')
}

/** Performs each key once: the first request takes effect, and repetitions get the same response. */
export class Idempotency {
  /** Fingerprints of the keys in progress in this process. */
  readonly #inFlight = new Map<string, string>()

  constructor(
    private readonly store: IdempotencyStore,
    private readonly log: Logger,
    private readonly holdMs = claimMs / 6,
  ) {}

  /** Throws `idempotency_in_progress` and `idempotency_key_reused` in addition to the handler's errors. */
  async run(attempt: Attempt): Promise<Answer> {
    const { key, fingerprint } = attempt
    const current = this.#inFlight.get(key)
    if (current !== undefined) throw current === fingerprint ? inProgress() : reused()
    this.#inFlight.set(key, fingerprint)
    try {
      const replayed = await this.#replay(attempt)
      if (replayed) return replayed
      return attempt.mode === 'transaction' ? await this.#transacted(attempt) : await this.#claimed(attempt)
    } finally {
      this.#inFlight.delete(key)
    }
  }

  async #replay({ mode, key, fingerprint }: Attempt): Promise<Answer | undefined> {
    const stored = await this.store.find(key)
    if (!stored) return undefined
    if (stored.fingerprint !== fingerprint) throw reused()
    if (!stored.response && mode === 'repeat') return undefined
    if (!stored.response) throw inProgress()
    const { status, body, headers } = stored.response
    return replayedAnswer({ status, body: body as object | null, ...(headers && { headers }) })
  }

  /**
   * The store writes the response in the transaction of the effect. If the handler returns different
   * data than its transaction stored, the stored response is replaced before the response is sent,
   * so that a repetition gets the same response.
   */
  async #transacted(attempt: Attempt): Promise<Answer> {
    const { key, fingerprint, meta, respond } = attempt
    let kept: { data: unknown; response: StoredResponse } | undefined
    meta.idempotency = {
      ...{ key, fingerprint },
      respond: (data) => {
        kept = { data, response: respond(data) }
        return kept.response
      },
    }
    try {
      const data = await attempt.perform()
      const response = kept && kept.data === data ? kept.response : respond(data)
      if (!isDeepStrictEqual(kept?.response, response))
        await this.#settle('replace', () => this.store.replace(key, fingerprint, response))
      const answer = attempt.answer(data)
      return meta.idempotency.isReplayed ? replayedAnswer(answer) : answer
    } catch (error) {
      const replayed = mayHaveLost(error) ? await this.#replay(attempt) : undefined
      if (replayed) return replayed
      throw error instanceof IdempotencyRaceError ? inProgress(error) : error
    }
  }

  async #claimed(attempt: Attempt): Promise<Answer> {
    const { key, fingerprint, mode } = attempt
    const claim = await this.store.claim(key, fingerprint, mode === 'repeat')
    if (claim === undefined) {
      const replayed = await this.#replay(attempt)
      if (replayed) return replayed
      throw inProgress()
    }
    const renew = () => void this.#settle('renew', () => this.store.renew(key, claim))
    const renewal = setInterval(renew, this.holdMs)
    let data: unknown
    try {
      data = await attempt.perform()
    } catch (error) {
      await this.#settle('release', () => this.store.release(key, claim))
      throw error
    } finally {
      clearInterval(renewal)
    }
    await this.#settle('complete', () => this.store.complete(key, claim, attempt.respond(data)))
    return attempt.answer(data)
  }

  /** The result of the request stands even if the key could not be settled. */
  async #settle(step: string, action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      this.log.error(
        { err: error, step },
        'the outcome of a request could not be stored under its Idempotency-Key; the key is free again when its claim expires',
      )
    }
  }
}

const replayedAnswer = (answer: Answer): Answer => ({
  ...answer,
  headers: { ...answer.headers, 'Idempotency-Replayed': 'true' },
})

/** The error may be caused by the same request, committed meanwhile by another process. */
function mayHaveLost(error: unknown): boolean {
  return error instanceof IdempotencyRaceError || (error instanceof ApiError && error.status < 500)
}

function inProgress(cause?: unknown): ApiError {
  return new ApiError('idempotency_in_progress', 'A request with this Idempotency-Key is being worked on.', {
    cause,
  })
}

function reused(): ApiError {
  return new ApiError('idempotency_key_reused', 'This Idempotency-Key was used for another request.', {
    details: [
      { in: 'header', path: '/idempotency-key', code: 'reused', message: 'belongs to another request' },
    ],
  })
}
