import { ApiError, type Instant, platformTenant } from '@opsplane/contracts'
import type { Vault } from '@opsplane/postgres'
import { z } from 'zod'

/** Maximum duration of a sign-in at the provider, in milliseconds. */
export const flowMs = 10 * 60_000

/** State of a sign-in at the provider, stored sealed in the browser. */
const Flow = z.object({
  providerId: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  /** The login to link an identity to, and the session that started the link; `null` for a sign-in. */
  link: z.object({ userId: z.string(), sessionId: z.string() }).nullable(),
  expiresAt: z.string(),
})
export type Flow = z.infer<typeof Flow>

const place = 'sso-flow'

export const sealFlow = (vault: Vault, flow: Flow): Promise<string> =>
  vault.seal(platformTenant.workspaceId, JSON.stringify(flow), place)

/** Throws `invalid_token` if the state was not issued to this browser for this provider within the last ten minutes. */
export async function openFlow(
  vault: Vault,
  sealed: string | undefined,
  { providerId, now }: { providerId: string; now: Instant },
): Promise<Flow> {
  const decryptedFlow = sealed === undefined ? null : await opening(vault, sealed)
  const flow = Flow.safeParse(decryptedFlow).data
  if (flow === undefined || flow.providerId !== providerId || flow.expiresAt <= now) throw unknownFlow()
  return flow
}

async function opening(vault: Vault, sealed: string): Promise<unknown> {
  try {
    return JSON.parse(await vault.open(platformTenant.workspaceId, sealed, place))
  } catch {
    return null
  }
}

/** The error is the same for another browser or provider, and for expired and used state. */
export const unknownFlow = (): ApiError =>
  new ApiError(
    'invalid_token',
    'This sign-in was not begun in this browser, is more than ten minutes old, or was finished before. Begin it again.',
  )
