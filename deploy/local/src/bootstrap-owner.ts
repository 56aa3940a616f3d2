import { permissions } from '@opsplane/contracts'
import { createInternalIssuer, type InternalTls, serviceClient } from '@opsplane/http'
import { request } from 'undici'
import { z } from 'zod'
import type { LocalSecrets } from './secrets.js'

export interface BootstrapOptions {
  secrets: LocalSecrets
  settingsUrl: string
  tls?: InternalTls | undefined
  /** Gateway URL for this process; not the public origin, which may not be reachable yet. */
  origin: string
}

/** The first owner, with an API key that has all permissions of an owner. */
export type LocalOwner = LocalSecrets['owner'] & { apiKey: string }

const Bootstrapped = z.object({ workspaceId: z.string(), userId: z.string() })
const Login = z.object({ data: z.object({ accessToken: z.string() }) })
const Permitted = z.object({ data: z.object({ permissions: z.array(z.string()) }) })
const CreatedToken = z.object({ data: z.object({ token: z.string() }) })

/**
 * Ensures that the workspace, its owner and an API key exist. Returns the owner with an API key that has
 * all permissions of an owner.
 */
export async function bootstrapOwner(options: BootstrapOptions): Promise<LocalOwner> {
  const { secrets, origin } = options
  const { owner } = secrets
  const client = serviceClient({
    baseUrl: options.settingsUrl,
    tls: options.tls,
    audience: 'settings',
    issuer: createInternalIssuer({
      service: 'operator',
      privateKey: secrets.serviceKeys.operator.privateKey,
    }),
    // Everything else may be starting at the same time.
    timeoutMs: 60_000,
  })
  await client.post(
    '/internal/bootstrap',
    {
      workspaceName: 'Demo',
      workspaceSlug: owner.workspace,
      email: owner.email,
      password: owner.password,
      userName: 'Owner',
    },
    Bootstrapped,
  )
  if (owner.apiKey !== undefined && (await allowsEverything(origin, owner.workspace, owner.apiKey))) {
    return { ...owner, apiKey: owner.apiKey }
  }
  const login = await post(
    `${origin}/api/v1/auth/token`,
    { email: owner.email, password: owner.password },
    {},
    Login,
  )
  const key = await post(
    `${origin}/api/v1/auth/tokens`,
    { name: 'local', scopes: [...permissions] },
    { authorization: `Bearer ${login.data.accessToken}`, 'x-workspace': owner.workspace },
    CreatedToken,
  )
  return { ...owner, apiKey: key.data.token }
}

/**
 * False if the key was created by a version with fewer permissions: a key's permissions are fixed when it is
 * created.
 */
async function allowsEverything(origin: string, workspace: string, apiKey: string): Promise<boolean> {
  const response = await request(`${origin}/api/v1/auth/me`, {
    headers: { authorization: `Bearer ${apiKey}`, 'x-workspace': workspace },
  })
  const answer = Permitted.safeParse(await response.body.json().catch(() => undefined))
  return answer.success && permissions.every((each) => answer.data.data.permissions.includes(each))
}

async function post<T>(
  url: string,
  body: unknown,
  headers: Record<string, string>,
  schema: z.ZodType<T>,
): Promise<T> {
  const response = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const answer = await response.body.json()
  if (response.statusCode >= 300)
    throw new Error(`${url} answered ${response.statusCode}: ${JSON.stringify(answer)}`)
  return schema.parse(answer)
}
