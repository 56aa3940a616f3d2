import { readFileSync } from 'node:fs'
import { type BaseConfig, ConfigError } from '@opsplane/runtime'

/**
 * The certificate a service presents to other services as server and client, and
 * the CA by which it verifies theirs. PEM.
 */
export interface InternalTls {
  cert: string
  key: string
  ca: string
  /** Callers must present a certificate as well. */
  mutual: boolean
}

type TlsConfig = Pick<
  BaseConfig,
  'internalTlsCertFile' | 'internalTlsKeyFile' | 'internalTlsCaFile' | 'internalTlsMutual'
>

/** `undefined` if none is configured. Throws ConfigError for an incomplete configuration or an unreadable file. */
export function readInternalTls(config: TlsConfig): InternalTls | undefined {
  const { internalTlsCertFile, internalTlsKeyFile, internalTlsCaFile, internalTlsMutual: mutual } = config
  if (!internalTlsCertFile && !internalTlsKeyFile && !internalTlsCaFile && !mutual) return undefined
  if (!internalTlsCertFile || !internalTlsKeyFile || !internalTlsCaFile) {
    const names = 'INTERNAL_TLS_CERT_FILE, INTERNAL_TLS_KEY_FILE and INTERNAL_TLS_CA_FILE'
    throw new ConfigError([`${names} belong together`])
  }
  return {
    cert: read('INTERNAL_TLS_CERT_FILE', internalTlsCertFile),
    key: read('INTERNAL_TLS_KEY_FILE', internalTlsKeyFile),
    ca: read('INTERNAL_TLS_CA_FILE', internalTlsCaFile),
    mutual,
  }
}

/** TLS options of undici clients that connect to services. */
export const clientTls = (tls: InternalTls | undefined) =>
  tls ? { ca: tls.ca, cert: tls.cert, key: tls.key } : {}

function read(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ConfigError([`${name} cannot be read (${String(cause)})`])
  }
}
