import { redactedValue, referencedSecrets } from '@opsplane/contracts'
import type { Vault } from '@opsplane/postgres'
import { LRUCache } from 'lru-cache'
import type { PreparedHeaders } from './domain.js'
import { isValidAt } from './secret-rotation.js'
import type { Target } from './target.js'

/** Names of headers whose literal value is treated as a secret. */
const sensitiveName = /auth|cookie|token|secret|key|passw|credential|signature|session/i

/** Context that a sealed value is bound to, in addition to its workspace. */
const secretPlace = (webhookId: string) => `webhook|${webhookId}|secret`
const headerPlace = (webhookId: string, name: string) => `webhook|${webhookId}|header|${name.toLowerCase()}`

/** Seals values that must be neither shown nor stored in plain text: see ADR 010. */
export async function prepareHeaders(
  vault: Vault,
  workspaceId: string,
  webhookId: string,
  headers: Record<string, string>,
): Promise<PreparedHeaders> {
  const prepared: PreparedHeaders = { shown: {}, sealed: {} }
  for (const [name, value] of Object.entries(headers)) {
    const secret =
      sensitiveName.test(name) && value !== redactedValue && referencedSecrets(value).length === 0
    prepared.shown[name] = secret ? redactedValue : value
    if (secret) prepared.sealed[name] = await vault.seal(workspaceId, value, headerPlace(webhookId, name))
  }
  return prepared
}

export function sealSecret(vault: Vault, workspaceId: string, webhookId: string, secret: string) {
  return vault.seal(workspaceId, secret, secretPlace(webhookId))
}

/** Credentials for a target's requests, in plain text. */
export interface Credentials {
  /** Currently valid signing secrets, newest first. */
  secrets: string[]
  /** Custom headers, in which `{{secrets.name}}` is not resolved yet. */
  headers: Record<string, string>
  /** Names of the headers whose whole value is secret. */
  secretHeaders: ReadonlySet<string>
}

/** Maximum targets whose decrypted fields are cached. */
const maxOpened = 5_000

/** Decrypts the sealed fields of targets, once per version. */
export function createCredentials(
  vault: Vault,
  nowMs: () => number,
): (target: Target) => Promise<Credentials> {
  const known = new LRUCache<string, { version: number; opened: Promise<Opened> }>({ max: maxOpened })

  const open = async (target: Target): Promise<Opened> => {
    const { workspaceId } = target.tenant
    const headers = { ...target.headers }
    for (const [name, sealed] of Object.entries(target.sealedHeaders))
      headers[name] = await vault.open(workspaceId, sealed, headerPlace(target.id, name))
    const secrets = await Promise.all(
      target.secrets.map(async ({ sealed, expiresAt }) => ({
        secret: await vault.open(workspaceId, sealed, secretPlace(target.id)),
        expiresAt,
      })),
    )
    return { secrets, headers, secretHeaders: new Set(Object.keys(target.sealedHeaders)) }
  }

  const openCached = (target: Target): Promise<Opened> => {
    const kept = known.get(target.id)
    if (kept?.version === target.version) return kept.opened
    const fresh = open(target)
    known.set(target.id, { version: target.version, opened: fresh })
    fresh.catch(() => known.delete(target.id))
    return fresh
  }

  return async (target) => {
    const { secrets, ...rest } = await openCached(target)
    const now = new Date(nowMs()).toISOString()
    // Overlaps end by time, without a change of the webhook.
    const valid = secrets.filter((secret) => isValidAt(secret, now))
    return { ...rest, secrets: valid.map(({ secret }) => secret) }
  }
}

interface Opened extends Omit<Credentials, 'secrets'> {
  secrets: { secret: string; expiresAt: string | null }[]
}
