import type { TenantScope } from '@opsplane/contracts'
import { z } from 'zod'

const Resolved = z.object({ values: z.record(z.string(), z.string()) })

/** The part of the settings client that is needed here. */
export interface SecretSource {
  post<Schema extends z.ZodType>(path: string, body: unknown, schema: Schema): Promise<z.output<Schema>>
}

/** The values of a tenant's secrets by name; a name without a secret is absent. Throws when settings is away. */
export type ResolveSecrets = (
  tenant: TenantScope,
  names: readonly string[],
) => Promise<Record<string, string>>

/** Asks settings, and remembers each answer for so short a time that a rotated secret is soon used. */
export function createSecretValues(source: SecretSource, keptMs: number, now: () => number): ResolveSecrets {
  const known = new Map<string, { until: number; values: Promise<Record<string, string>> }>()

  const forgetExpired = () => {
    for (const [key, { until }] of known) if (until <= now()) known.delete(key)
  }

  return async ({ workspaceId, environment }, names) => {
    if (names.length === 0) return {}
    const wanted = [...new Set(names)].sort()
    const key = `${workspaceId}|${environment}|${wanted.join('|')}`
    const kept = known.get(key)
    if (kept && kept.until > now()) return kept.values
    forgetExpired()
    const values = source
      .post('/internal/secrets/resolve', { workspaceId, environment, names: wanted }, Resolved)
      .then((resolved) => resolved.values)
    known.set(key, { until: now() + keptMs, values })
    values.catch(() => known.delete(key))
    return values
  }
}
