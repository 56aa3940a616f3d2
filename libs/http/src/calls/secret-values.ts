import { ResolvedSecrets, type SecretResolution, type TenantScope } from '@opsplane/contracts'
import type { z } from 'zod'

/** The part of the settings client that is needed here. */
export interface SecretSource {
  post<Schema extends z.ZodType>(path: string, body: unknown, schema: Schema): Promise<z.output<Schema>>
}

/** Parameters that decide which secrets a request receives. */
export interface SecretUser {
  tenant: TenantScope
  /** The user the secrets are used for. */
  userId: string
  /** The resource that uses them, as kind and id: `webhook/wh_…`. */
  consumer: string
  /** The host they are sent to, in the form of `hostOfUrl`. */
  host: string
}

/** Returns the values of secrets for one use; names without a secret are absent. Throws if settings is unavailable. */
export type ResolveSecrets = (user: SecretUser, names: readonly string[]) => Promise<ResolvedSecrets>

interface SecretValuesOptions {
  source: SecretSource
  keptMs: number
  now(): number
  /** Maximum characters of all cached values; the oldest are evicted first. */
  maxKept?: number
}

interface Kept {
  until: number
  length: number
  answer: Promise<ResolvedSecrets>
}

const nothing: ResolvedSecrets = { values: {}, refused: {} }

/** Requests secrets from settings and caches each response briefly, so that a rotated secret is soon in use. */
export function createSecretValues(options: SecretValuesOptions): ResolveSecrets {
  const { source, keptMs, now, maxKept = 16 * 1024 * 1024 } = options
  /** In order of the request to settings, which is also the order of expiry. */
  const known = new Map<string, Kept>()
  let length = 0

  const forget = (key: string) => {
    length -= known.get(key)?.length ?? 0
    known.delete(key)
  }
  const makeRoom = () => {
    for (const [key, { until }] of known) {
      if (until > now() && length <= maxKept) return
      forget(key)
    }
  }

  const resolveValues = (key: string, question: SecretResolution) => {
    const answer = source.post('/internal/secrets/resolve', question, ResolvedSecrets)
    const kept: Kept = { until: now() + keptMs, length: key.length, answer }
    known.set(key, kept)
    length += kept.length
    answer.then(
      ({ values }) => {
        if (known.get(key) !== kept) return
        const more = Object.values(values).reduce((sum, value) => sum + value.length, 0)
        kept.length += more
        length += more
        makeRoom()
      },
      () => {
        if (known.get(key) === kept) forget(key)
      },
    )
    return answer
  }

  return async ({ tenant: { workspaceId, environment }, userId, consumer, host }, names) => {
    if (names.length === 0) return nothing
    const uniqueNames = [...new Set(names)].sort()
    const key = [workspaceId, environment, consumer, userId, host, ...uniqueNames].join('|')
    const kept = known.get(key)
    if (kept && kept.until > now()) return kept.answer
    forget(key)
    makeRoom()
    return resolveValues(key, { workspaceId, environment, names: uniqueNames, host, userId, consumer })
  }
}
