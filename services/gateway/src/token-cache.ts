import { ApiError, type Principal } from '@opsplane/contracts'
import { sha256Hex } from '@opsplane/runtime'
import { LRUCache } from 'lru-cache'

/** A request to verify whether a token may act in this workspace (slug) and environment. */
export interface VerifyRequest {
  token: string
  workspace: string | undefined
  environment: string
}

/** The response of settings. `expiresAt` is the expiry of the token; null if it has none. */
export interface Verification {
  principal: Principal
  expiresAt: string | null
}

export interface TokenCache {
  /** The principal if it is cached, without a request. */
  peek(question: VerifyRequest): Principal | undefined
  /**
   * Throws ApiError with the reason for which a token is rejected. `admit` is called before settings verifies a token
   * that was not verified recently, and may throw.
   */
  authenticate(question: VerifyRequest, admit?: () => void): Promise<Principal>
  /** Removes the principals that match. */
  forget(matches: (principal: Principal) => boolean): void
}

interface Entry {
  /** When the request to settings was sent, in milliseconds of the monotonic clock. */
  startedAt: number
  /** Until when the result is valid, in milliseconds of the monotonic clock. */
  freshUntil: number
  principal?: Principal
  answer: Promise<Principal>
  /** The next result is already being requested. */
  renewing: boolean
}

export interface TokenCacheOptions {
  verify(question: VerifyRequest): Promise<Verification>
  /** Milliseconds for which a token is trusted after its verification started. */
  ttlMs: number
  monotonicMs: () => number
  /** Epoch milliseconds, for comparison with `expiresAt`. */
  wallMs: () => number
  capacity?: number
}

/** Cache key that identifies the request without containing the token. */
export const buildVerifyKey = ({ token, workspace, environment }: VerifyRequest): string =>
  `${sha256Hex(token)} ${environment} ${workspace ?? ''}`

/** Statuses that depend only on the token and stay valid until it changes; other errors are not cached. */
const isDenial = (error: unknown) =>
  error instanceof ApiError && (error.status === 401 || error.status === 403)

/**
 * Caches verified tokens. Every result is dated from the request to settings, so a revoked token is rejected at most
 * `ttlMs` after its revocation, even if messages are lost. Concurrent identical requests share one call. A token in
 * steady use is verified again before its result expires, so that no request waits for it.
 */
export function createTokenCache(options: TokenCacheOptions): TokenCache {
  const { ttlMs, monotonicMs, wallMs, capacity = 20_000 } = options
  const denialMs = ttlMs / 2
  const entries = new LRUCache<string, Entry>({ max: capacity })
  /** Tokens that settings has verified, including those whose result has expired. */
  const recentlyVerified = new LRUCache<string, true>({ max: capacity })

  const startVerification = (key: string, question: VerifyRequest): Entry => {
    const startedAt = monotonicMs()
    const verified = options.verify(question)
    verified.then(
      ({ principal, expiresAt }) => {
        entry.principal = principal
        recentlyVerified.set(key, true)
        if (expiresAt === null) return
        const leftMs = Date.parse(expiresAt) - wallMs()
        entry.freshUntil = Math.min(entry.freshUntil, monotonicMs() + leftMs)
      },
      (error: unknown) => {
        if (isDenial(error)) {
          entry.freshUntil = startedAt + denialMs
          recentlyVerified.delete(key)
        } else if (entries.peek(key) === entry) entries.delete(key)
      },
    )
    const entry: Entry = {
      startedAt,
      freshUntil: startedAt + ttlMs,
      answer: verified.then(({ principal }) => principal),
      renewing: false,
    }
    return entry
  }

  const renew = (key: string, current: Entry, question: VerifyRequest) => {
    current.renewing = true
    const next = startVerification(key, question)
    const replace = () => {
      // If the entry was removed meanwhile, the result may be older than the reason for its removal.
      if (entries.peek(key) === current) entries.set(key, next)
    }
    next.answer.then(replace, (error: unknown) => {
      if (isDenial(error)) replace()
    })
  }

  const fresh = (key: string) => {
    const entry = entries.get(key)
    return entry !== undefined && monotonicMs() < entry.freshUntil ? entry : undefined
  }

  return {
    peek: (question) => fresh(buildVerifyKey(question))?.principal,
    authenticate(question, admit) {
      const key = buildVerifyKey(question)
      let entry = fresh(key)
      if (entry === undefined) {
        if (!recentlyVerified.has(key)) admit?.()
        entry = startVerification(key, question)
        entries.set(key, entry)
      } else if (
        entry.principal !== undefined &&
        !entry.renewing &&
        monotonicMs() - entry.startedAt > ttlMs / 2
      ) {
        renew(key, entry, question)
      }
      return entry.answer
    },
    forget(matches) {
      for (const [key, entry] of entries) {
        if (entry.principal && matches(entry.principal)) entries.delete(key)
      }
    },
  }
}
