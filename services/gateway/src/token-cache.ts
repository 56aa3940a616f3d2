import { ApiError, type Principal } from '@opsplane/contracts'
import { sha256Hex } from '@opsplane/runtime'
import { LRUCache } from 'lru-cache'

/** What is asked about a token: whether it may act in this workspace (by slug) and environment. */
export interface VerifyRequest {
  token: string
  workspace: string | undefined
  environment: string
}

/** The answer of settings. `expiresAt` is the end of the token's life, null when it has none. */
export interface Verification {
  principal: Principal
  expiresAt: string | null
}

export interface TokenCache {
  /** The principal if it is known at this moment, without asking. */
  peek(question: VerifyRequest): Principal | undefined
  /**
   * Throws ApiError with the reason a token is refused. `admit` is called before settings is asked about one that has
   * not been verified lately, and may throw.
   */
  authenticate(question: VerifyRequest, admit?: () => void): Promise<Principal>
  /** Forgets the principals that match. */
  forget(matches: (principal: Principal) => boolean): void
}

interface Entry {
  /** Milliseconds on the monotonic clock when settings was asked. */
  startedAt: number
  /** Milliseconds on the monotonic clock after which the answer no longer holds. */
  freshUntil: number
  principal?: Principal
  answer: Promise<Principal>
  /** The next answer is already being fetched. */
  renewing: boolean
}

export interface TokenCacheOptions {
  verify(question: VerifyRequest): Promise<Verification>
  /** How long after its verification started a token is trusted. */
  ttlMs: number
  monotonicMs: () => number
  /** Epoch milliseconds, to judge `expiresAt`. */
  wallMs: () => number
  capacity?: number
}

/** Tells questions apart, and no token. */
export const buildVerifyKey = ({ token, workspace, environment }: VerifyRequest): string =>
  `${sha256Hex(token)} ${environment} ${workspace ?? ''}`

/** Statuses that speak about the token and hold until it changes; anything else is not worth remembering. */
const isDenial = (error: unknown) =>
  error instanceof ApiError && (error.status === 401 || error.status === 403)

/**
 * Remembers verified tokens. Every answer counts from when settings was asked, so a revoked token is refused
 * at most `ttlMs` after its revocation, whatever is lost on the way. Concurrent identical questions share
 * one call; a token in steady use is verified again before its answer expires, so that no request waits for it.
 */
export function createTokenCache(options: TokenCacheOptions): TokenCache {
  const { ttlMs, monotonicMs, wallMs, capacity = 20_000 } = options
  const denialMs = ttlMs / 2
  const entries = new LRUCache<string, Entry>({ max: capacity })
  /** Tokens that settings has verified, also when the answer has expired. */
  const recentlyVerified = new LRUCache<string, true>({ max: capacity })

  const ask = (key: string, question: VerifyRequest): Entry => {
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
    const next = ask(key, question)
    const replace = () => {
      // Forgotten meanwhile: the answer may be older than the reason to forget.
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
        entry = ask(key, question)
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
