import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { type ConnectionOptions, checkServerIdentity } from 'node:tls'

/** The URL and options `openClient` passes to the client. */
interface ServerTarget {
  url: string
  /** Whether the URL leads to a transaction pooler. */
  pooled: boolean
  /** TLS options if the URL names files; otherwise TLS is left to the client, which supports only `sslmode`. */
  ssl?: ConnectionOptions
}

const fileParameters = ['sslrootcert', 'sslcert', 'sslkey'] as const

export const isPooled = (url: string): boolean => parseServerTarget(url).pooled

/**
 * Parses parameters that libpq supports and the client does not: `sslrootcert`, `sslcert` and `sslkey` name PEM
 * files. Also parses our own `pooler=transaction`. With `sslrootcert` the server's certificate is verified
 * according to `sslmode`: `verify-full` (the default) includes the name, `verify-ca` and `require` only the
 * authority. Throws if a file cannot be read; the message names the parameter.
 */
export function parseServerTarget(url: string): ServerTarget {
  const [base = '', query] = url.split(/\?(.*)/s)
  const parameters = new URLSearchParams(query)
  const pooled = parameters.get('pooler') === 'transaction'
  if (pooled) parameters.delete('pooler')
  const ssl = tlsOf(base, parameters)
  const rest = parameters.toString()
  return { url: rest === '' ? base : `${base}?${rest}`, pooled, ...(ssl && { ssl }) }
}

function tlsOf(base: string, parameters: URLSearchParams): ConnectionOptions | undefined {
  // The client itself uses the system's authorities.
  if (parameters.get('sslrootcert') === 'system') return undefined
  const [ca, cert, key] = fileParameters.map((name) => {
    const file = parameters.get(name)
    parameters.delete(name)
    return file === null ? undefined : read(name, file)
  })
  const mode = parameters.get('sslmode') ?? 'verify-full'
  if ((ca ?? cert ?? key) === undefined || mode === 'disable') return undefined
  parameters.delete('sslmode')
  const checksName = mode === 'verify-full'
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    rejectUnauthorized: ca !== undefined || mode.startsWith('verify'),
    checkServerIdentity: (name, peer) =>
      checksName ? checkServerIdentity(addressOf(base) ?? name, peer) : undefined,
  }
}

/** The host if it is an IP address: the client passes no server name to Node then. */
function addressOf(base: string): string | undefined {
  const host = /^[^/]*\/\/(?:[^@/]*@)?\[?([^/,\]]*?)\]?(?::\d+)?(?:\/|$)/.exec(base)?.[1]
  return host !== undefined && isIP(host) ? host : undefined
}

function read(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(
      `The file of ${name} in the URL of Postgres cannot be read: ${(error as Error).message}`,
      {
        cause: error,
      },
    )
  }
}
