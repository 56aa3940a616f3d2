import { ApiError, operator } from '@opsplane/contracts'
import { createInternalIssuer, readInternalTls, serviceClient } from '@opsplane/http'
import { baseConfig, delay, parseConfig, retryDelayMs } from '@opsplane/runtime'
import { z } from 'zod'

const config = baseConfig
  .pick({
    internalTlsCertFile: true,
    internalTlsKeyFile: true,
    internalTlsCaFile: true,
    internalTlsMutual: true,
  })
  .extend({
    settingsUrl: z.url({ protocol: /^https?$/ }).meta({ description: 'URL of the settings service' }),
    operatorPrivateKey: z.string().min(1).meta({ description: 'Ed25519 private key of the operator' }),
    ownerEmail: z.email().meta({ description: 'e-mail address of the first owner' }),
    ownerPassword: z.string().min(1).meta({ description: 'password of the first owner' }),
    ownerName: z.string().min(1).default('Owner'),
    workspaceSlug: z.string().min(1).default('main'),
    workspaceName: z.string().min(1).default('Main'),
    settingsWaitSeconds: z.coerce.number().int().min(0).max(3_600).default(300).meta({
      description: 'seconds to wait for the settings service to respond',
    }),
  })

const Bootstrapped = z.object({ workspaceId: z.string(), userId: z.string() })
const timeoutMs = 10_000

/**
 * Creates the first workspace and its owner; changes nothing if they exist. Throws ConfigError or the error that
 * settings returns.
 */
export async function bootstrap(
  env: Record<string, string | undefined>,
  print: (line: string) => void,
): Promise<void> {
  const settings = parseConfig(config, env)
  const client = serviceClient({
    baseUrl: settings.settingsUrl,
    tls: readInternalTls(settings),
    audience: 'settings',
    issuer: createInternalIssuer({ service: operator, privateKey: settings.operatorPrivateKey }),
    timeoutMs,
  })
  const body = {
    workspaceName: settings.workspaceName,
    workspaceSlug: settings.workspaceSlug,
    email: settings.ownerEmail,
    password: settings.ownerPassword,
    userName: settings.ownerName,
  }
  try {
    const post = () => client.post('/internal/bootstrap', body, Bootstrapped)
    const { workspaceId } = await persisting(post, settings.settingsWaitSeconds * 1_000)
    print(`Workspace "${settings.workspaceSlug}" (${workspaceId}) belongs to ${settings.ownerEmail}.`)
  } finally {
    await client.close()
  }
}

/** Retries until the service answers, for at most the time the service may take to start. */
async function persisting<T>(work: () => Promise<T>, waitMs: number): Promise<T> {
  const startedAt = performance.now()
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const final = !(error instanceof ApiError) || !error.retryable
      if (final || performance.now() - startedAt > waitMs) throw error
      await delay(retryDelayMs({ attempt, strategy: 'exponential', baseMs: 250, maxMs: 5_000 }))
    }
  }
}
