import { OpenApiDocument } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { request } from 'undici'

export interface OpenApiSource {
  /** The documents of the services as they run now, or as they last answered. */
  documents(): Promise<OpenApiDocument[]>
}

export interface OpenApiSourceOptions {
  /** By service: where its document is. */
  urls: ReadonlyMap<string, URL>
  monotonicMs: () => number
  log: Logger
}

/** For how long fetched documents are served again without asking. */
const cacheMs = 5_000
const fetchTimeoutMs = 3_000

/** Concurrent callers share one round of fetching. A service that does not answer keeps its last document. */
export function createOpenApiSource({ urls, monotonicMs, log }: OpenApiSourceOptions): OpenApiSource {
  const lastGood = new Map<string, OpenApiDocument>()
  let round: { startedAt: number; done: Promise<OpenApiDocument[]> } | undefined

  const fetchOne = async (service: string, url: URL) => {
    try {
      lastGood.set(service, await fetchDocument(url))
    } catch (error) {
      log.warn({ err: error, upstream: service }, 'could not read the OpenAPI document of a service')
    }
  }

  const fetchAll = async () => {
    await Promise.all([...urls].map(([service, url]) => fetchOne(service, url)))
    // In the configured order, whichever answered first.
    return [...urls.keys()]
      .map((service) => lastGood.get(service))
      .filter((document) => document !== undefined)
  }

  return {
    documents() {
      const now = monotonicMs()
      if (round !== undefined && now - round.startedAt < cacheMs) return round.done
      round = { startedAt: now, done: fetchAll() }
      return round.done
    },
  }
}

async function fetchDocument(url: URL): Promise<OpenApiDocument> {
  const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(fetchTimeoutMs) })
  const answer: unknown = await body.json()
  if (statusCode !== 200) throw new Error(`${url.href} answers ${statusCode}`)
  return OpenApiDocument.parse(answer)
}
