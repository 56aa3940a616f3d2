/** Where a gateway on this machine is reached. */
export interface Origins {
  /** As this process calls it, which needs no name to be resolved. */
  gateway: string
  /** As people and clients do: `PUBLIC_ORIGIN`, else localhost, by which browsers know what passkeys belong to. */
  public: string
  /** Of apps; undefined where there is none unless the operator names one. */
  apps: string | undefined
}

/** Of a gateway at this port, and the `HOST` and `PUBLIC_ORIGIN` of this environment. */
export function buildOrigins(
  port: number,
  { HOST, PUBLIC_ORIGIN }: Readonly<Record<string, string | undefined>> = process.env,
): Origins {
  const host = HOST || '127.0.0.1'
  // One that listens on all addresses does on 127.0.0.1 too.
  const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const gateway = `http://${address.includes(':') ? `[${address}]` : address}:${port}`
  const local = loopback.has(address) ? `http://localhost:${port}` : gateway
  const origin = PUBLIC_ORIGIN || local
  return { gateway, public: origin, apps: localAppsOrigin(origin) }
}

const loopback = new Set(['127.0.0.1', '::1', 'localhost'])

/** `apps.localhost`, which browsers and curl know to be this machine, where people use localhost; undefined elsewhere. */
export function localAppsOrigin(publicOrigin: string): string | undefined {
  const url = URL.canParse(publicOrigin) ? new URL(publicOrigin) : undefined
  return url?.hostname === 'localhost' ? `${url.protocol}//apps.${url.host}` : undefined
}
