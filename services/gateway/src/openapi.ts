import { mergeOpenApi, type OpenApiDocument } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { type Dispatcher, request } from 'undici'
import { z } from 'zod'
import { ownDocument } from './own-document.js'

export interface OpenApiSource {
  /**
   * One document of what runs. A service that does not answer keeps its last description; one that has never answered is
   * left out. Throws when the descriptions contradict each other and never have been free of that.
   */
  document(): Promise<OpenApiDocument>
}

export interface OpenApiSourceOptions {
  serviceUrls: Readonly<Record<string, string>>
  /** Connects to the services. */
  agent: Dispatcher
  monotonicMs: () => number
  log: Logger
}

/** For how long a document that has every service is served again without asking them. */
const cacheMs = 5_000
/** Long, as the document leaves out a service that has not described itself yet; the first description takes the longest. */
const fetchTimeoutMs = 10_000

const DocumentShape = z.looseObject({
  openapi: z.string().startsWith('3.1'),
  paths: z.record(z.string(), z.looseObject({})),
  components: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
})
const ServiceDocument = z.custom<OpenApiDocument>((value) => DocumentShape.safeParse(value).success)

/** Concurrent callers share one round of asking. */
export function createOpenApiSource(options: OpenApiSourceOptions): OpenApiSource {
  const { serviceUrls, agent, monotonicMs, log } = options
  const lastGood = new Map<string, OpenApiDocument>()
  let lastMerged: OpenApiDocument | undefined
  let round: { startedAt: number; merged: Promise<OpenApiDocument> } | undefined

  const read = async (service: string, url: string) => {
    try {
      lastGood.set(service, await fetchDocument(url, agent))
    } catch (error) {
      log.warn({ err: error, upstream: service }, 'could not read the OpenAPI document of a service')
    }
  }

  const merge = async (): Promise<OpenApiDocument> => {
    await Promise.all(Object.entries(serviceUrls).map(([service, url]) => read(service, url)))
    // In the configured order, whichever answered first.
    const documents = Object.keys(serviceUrls).flatMap((service) => lastGood.get(service) ?? [])
    try {
      lastMerged = mergeOpenApi([ownDocument, ...documents], ownDocument.info)
    } catch (error) {
      // Such as two releases side by side during an update.
      if (lastMerged === undefined) throw error
      log.error({ err: error }, 'the OpenAPI documents of the services contradict each other')
    }
    return lastMerged
  }

  return {
    document() {
      const now = monotonicMs()
      if (round !== undefined && now - round.startedAt < cacheMs) return round.merged
      const asking = { startedAt: now, merged: merge() }
      round = asking
      // Whoever has not described itself yet is asked again by the next one.
      const forgetIncomplete = () => {
        if (round === asking && Object.keys(serviceUrls).some((name) => !lastGood.has(name)))
          round = undefined
      }
      asking.merged.then(forgetIncomplete, () => undefined)
      return asking.merged
    },
  }
}

async function fetchDocument(baseUrl: string, dispatcher: Dispatcher): Promise<OpenApiDocument> {
  const url = new URL('/internal/openapi.json', baseUrl)
  const { statusCode, body } = await request(url, { dispatcher, signal: AbortSignal.timeout(fetchTimeoutMs) })
  const answer: unknown = await body.json()
  if (statusCode !== 200) throw new Error(`${url.href} answers ${statusCode}`)
  return ServiceDocument.parse(answer)
}
