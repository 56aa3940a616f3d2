/** Origins of a gateway on this machine. */
export interface Origins {
  /** Origin that this process uses, which needs no name resolution. */
  gateway: string
  /** Origin that people and clients use: `PUBLIC_ORIGIN`, or else localhost, the name to which browsers bind passkeys. */
  public: string
  /** Origin of apps; `undefined` if there is none unless the operator sets one. */
  apps: string | undefined
}

/** Origins of a gateway at this port, with the `HOST` and `PUBLIC_ORIGIN` of this environment. */
export function buildOrigins(
  port: number,
  { HOST, PUBLIC_ORIGIN }: Readonly<Record<string, string | undefined>> = process.env,
): Origins {
  const host = HOST || '127.0.0.1'
  // A gateway that listens on all addresses is also reachable at 127.0.0.1.
  const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const gateway = `http://${address.includes(':') ? `[${address}]` : address}:${port}`
  const local = loopback.has(address) ? `http://localhost:${port}` : gateway
  const origin = PUBLIC_ORIGIN || local
  return { gateway, public: origin, apps: localAppsOrigin(origin) }
}

const loopback = new Set(['127.0.0.1', '::1', 'localhost'])

/**
 * `apps.localhost`, which browsers and curl resolve to this machine, if the public origin is localhost; `undefined`
 * otherwise.
 */
export function localAppsOrigin(publicOrigin: string): string | undefined {
  const url = URL.canParse(publicOrigin) ? new URL(publicOrigin) : undefined
  return url?.hostname === 'localhost' ? `${url.protocol}//apps.${url.host}` : undefined
}
