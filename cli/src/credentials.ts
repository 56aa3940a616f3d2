import { resolve } from 'node:path'
import { Environment } from '@opsplane/contracts'
import { runningPlatform } from '@opsplane/local/state'
import type { ApiTarget } from './api.js'
import { usageError } from './failure.js'
import { createProfiles } from './profiles.js'

export interface CredentialOptions {
  profile?: string | undefined
  home?: string | undefined
  environment?: Environment | undefined
}

export interface Credentials extends ApiTarget {
  token: string
  workspace: string
  /** Origin of the credentials, as readable text. */
  source: string
}

type Env = Record<string, string | undefined>

export const defaultProfile = 'default'
export const resolveHome = (home: string | undefined, env: Env) => home ?? (env.OPSPLANE_HOME || '.opsplane')

/**
 * Returns the first credentials found: those named by an option, the environment, the stored login, or the platform
 * started here. Throws CliError if there are none.
 */
export function findCredentials(options: CredentialOptions, env: Env): Credentials {
  const found =
    fromOptions(options, env) ?? fromEnvironment(env) ?? fromLogin(env) ?? fromHome(undefined, env)
  if (!found) {
    throw usageError(
      'There are no credentials. Log in with opsplane login, or set OPSPLANE_URL, OPSPLANE_API_KEY and ' +
        `OPSPLANE_WORKSPACE, or start a platform here with npm start (none runs from ${resolve(resolveHome(undefined, env))}).`,
    )
  }
  return { ...found, environment: options.environment ?? found.environment }
}

/** Accepts `https://host` and `https://host/api/v1` as the URL of the API. Throws CliError for anything else. */
export function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw usageError('The URL of the platform reads like https://opsplane.example.com.')
  if (url.username || url.password || url.search || url.hash)
    throw usageError('The URL of the platform has a host and a path, and neither credentials nor a query.')
  return url.pathname === '/' ? `${url.origin}/api/v1` : `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

function fromOptions({ profile, home }: CredentialOptions, env: Env): Credentials | undefined {
  if (profile !== undefined) return fromProfile(profile, env)
  if (home === undefined) return undefined
  const found = fromHome(home, env)
  if (!found) throw usageError(`No platform runs from ${resolve(home)}. Start it with npm start.`)
  return found
}

function fromEnvironment(env: Env): Credentials | undefined {
  const { OPSPLANE_URL: url, OPSPLANE_API_KEY: token, OPSPLANE_WORKSPACE: workspace } = env
  if (!url && !token) return undefined
  const missing = Object.entries({
    OPSPLANE_URL: url,
    OPSPLANE_API_KEY: token,
    OPSPLANE_WORKSPACE: workspace,
  })
    .filter(([, value]) => !value)
    .map(([name]) => name)
  if (!url || !token || !workspace)
    throw usageError(
      `The environment has a part of the credentials only: set ${missing.join(' and ')} as well.`,
    )
  return {
    baseUrl: parseBaseUrl(url),
    token,
    workspace,
    environment: environmentFrom(env),
    source: 'environment',
  }
}

function fromLogin(env: Env): Credentials | undefined {
  if (!createProfiles(env).find(defaultProfile)) return undefined
  return elsewhere(fromProfile(defaultProfile, env), env)
}

function fromProfile(name: string, env: Env): Credentials {
  const profiles = createProfiles(env)
  const profile = profiles.find(name)
  if (!profile) {
    const others = profiles.names()
    throw usageError(
      `There is no profile ${name} (${others.length > 0 ? `only ${others.join(', ')}` : 'nor any other'}). ` +
        `Log in with opsplane login --profile ${name}.`,
    )
  }
  const { url: baseUrl, token, workspace, environment } = profile
  return { baseUrl, token, workspace, environment, source: `profile ${name}` }
}

function fromHome(home: string | undefined, env: Env): Credentials | undefined {
  const folder = resolveHome(home, env)
  const info = runningPlatform(folder)
  if (!info) return undefined
  const { baseUrl, apiKey: token, workspace } = info
  return elsewhere({ baseUrl, token, workspace, source: `platform of ${resolve(folder)}` }, env)
}

/** The same credentials with the workspace and environment of the environment variables. */
function elsewhere(credentials: Credentials, env: Env): Credentials {
  return {
    ...credentials,
    workspace: env.OPSPLANE_WORKSPACE || credentials.workspace,
    environment: environmentFrom(env) ?? credentials.environment,
  }
}

function environmentFrom({ OPSPLANE_ENVIRONMENT: text }: Env): Environment | undefined {
  if (!text) return undefined
  const parsed = Environment.safeParse(text)
  if (parsed.success) return parsed.data
  throw usageError(`OPSPLANE_ENVIRONMENT is ${text}, but must be one of ${Environment.options.join(', ')}.`)
}
