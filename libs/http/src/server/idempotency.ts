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

/** Where keys are kept; a response of null means the request is still being worked on. */
export interface IdempotencyStore {
  find(key: string): Promise<{ fingerprint: string; response: StoredResponse | null } | undefined>
  /**
   * Takes a key for a request without a transaction of its own; undefined when it is taken. It is free again `claimMs` after
   * it was claimed or last held, for a repetition of the same request at once. What is returned names the claim: once
   * another has the key, nothing else is done in its name.
   */
  claim(key: string, fingerprint: string, isRepetition: boolean): Promise<string | undefined>
  renew(key: string, claim: string): Promise<void>
  complete(key: string, claim: string, response: StoredResponse): Promise<void>
  /** Keeps the answer of a request that has its key, instead of what was kept before. */
  replace(key: string, fingerprint: string, response: StoredResponse): Promise<void>
  /** Gives a claimed key back after a failure. */
  release(key: string, claim: string): Promise<void>
}

/** A claim whose process died is free again after so long. */
export const claimMs = 30_000

/** One request with an Idempotency-Key. */
export interface Attempt {
  mode: 'transaction' | 'claim' | 'repeat'
  key: string
  fingerprint: string
  meta: CommandMeta
  /** Runs the handler; gives its data. */
  perform(): Promise<unknown>
  answer(data: unknown): Answer
  /** The answer as it may be kept. */
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

/** The key within its scope: the same key of someone else, or for another operation, is another key. */
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
 * Equal for equal content under one key, whatever the order of fields and parameters. Made with the key as the
 * client sent it, which is not kept, so that a kept fingerprint is no means to guess a secret in the content.
 */
export function computeFingerprint(key: string, body: unknown, query: unknown): string {
  return hmacSha256(key, `${canonicalJson(query)}\0${canonicalJson(body)}`).toString('hex')
}

/** Performs each key once: the first request takes effect, the same request again gets the same answer. */
export class Idempotency {
  /** Fingerprints of the keys this process is working on. */
  readonly #inFlight = new Map<string, string>()

  constructor(
    private readonly store: IdempotencyStore,
    private readonly log: Logger,
    private readonly holdMs = claimMs / 6,
  ) {}

  /** Throws `idempotency_in_progress` and `idempotency_key_reused` in addition to what the handler throws. */
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
   * The store writes the answer in the transaction of the effect. Where the handler answers something else than its
   * transaction gave, that is written before it is sent: a repetition is answered what was sent.
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
    const holding = setInterval(renew, this.holdMs)
    let data: unknown
    try {
      data = await attempt.perform()
    } catch (error) {
      await this.#settle('release', () => this.store.release(key, claim))
      throw error
    } finally {
      clearInterval(holding)
    }
    await this.#settle('complete', () => this.store.complete(key, claim, attempt.respond(data)))
    return attempt.answer(data)
  }

  /** The request's own outcome stands, whether or not the key could be settled. */
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

/** A refusal can be the effect of the same request, committed meanwhile by another process. */
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
