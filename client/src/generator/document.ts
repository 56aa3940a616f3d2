import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, openState, startCluster } from '@opsplane/local'
import type { OpenAPI3 } from 'openapi-typescript'

/** The document at an address. */
export async function readDocument(url: string): Promise<OpenAPI3> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} answers ${response.status}`)
  return (await response.json()) as OpenAPI3
}

/** The document of the platform as it is built, which runs on servers of its own until it has been asked. */
export async function documentOfBuild(): Promise<OpenAPI3> {
  const folder = mkdtempSync(join(tmpdir(), 'opsplane-client-'))
  try {
    const cluster = await startCluster({ state: openState(join(folder, 'state')) })
    try {
      return await wholeDocument(cluster)
    } finally {
      await cluster.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * The gateway's document leaves out a service that takes long to describe itself for the first time, as on a busy machine: each is
 * asked first. Throws where something is missing all the same.
 */
async function wholeDocument({ info, services }: Cluster): Promise<OpenAPI3> {
  const { gateway: _, ...backends } = services
  const parts = Object.values(backends).map(({ url }) => readDocument(`${url}/internal/openapi.json`))
  const described = (await Promise.all(parts)).flatMap(({ paths }) => Object.keys(paths ?? {}))
  const whole = await readDocument(`${info.baseUrl}/openapi.json`)
  const missing = described.filter((path) => whole.paths?.[path] === undefined)
  if (missing.length > 0) throw new Error(`The document of the gateway lacks ${missing.join(', ')}`)
  return whole
}
