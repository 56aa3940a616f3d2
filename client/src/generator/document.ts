import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openState, startCluster } from '@opsplane/local'
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
      return await readDocument(`${cluster.info.baseUrl}/openapi.json`)
    } finally {
      await cluster.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
