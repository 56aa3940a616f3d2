import {
  type CachedDocument,
  cacheDocument,
  mergeOpenApi,
  type OpenApiDocument,
  stringifyInSlices,
} from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { type Dispatcher, request } from 'undici'
import { z } from 'zod'
import { ownDocument } from './own-document.js'
import { apiPrefix } from './target.js'
import { formatYamlInSlices } from './yaml-in-slices.js'

export interface OpenApiSource {
  /**
   * The merged document of the running services; the same object until something changes. A service that does not
   * respond keeps its last description; one that has never responded is omitted. Throws if the descriptions contradict
   * each other and there is no earlier consistent document.
   */
  document(format: 'json' | 'yaml'): Promise<CachedDocument>
}

export interface OpenApiSourceOptions {
  serviceUrls: Readonly<Record<string, string>>
  /** Public origin of the platform; if `undefined`, addresses are relative to the document. */
  origin: string | undefined
  /** HTTP agent for connections to services. */
  agent: Dispatcher
  monotonicMs: () => number
  log: Logger
}

/** Milliseconds for which a document that includes every service is served without new requests. */
const cacheMs = 5_000
/**
 * Long, because a service that has not responded yet is missing in the document, and its
 * first description takes longest.
 */
const fetchTimeoutMs = 10_000

const DocumentShape = z.looseObject({
  openapi: z.string().startsWith('3.1'),
  paths: z.record(z.string(), z.looseObject({})),
  components: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
})
const ServiceDocument = z.custom<OpenApiDocument>((value) => DocumentShape.safeParse(value).success)

interface Described {
  document: OpenApiDocument
  etag: string | undefined
}

/** Concurrent callers share one round of requests. Unchanged descriptions are neither parsed nor merged again. */
export function createOpenApiSource(options: OpenApiSourceOptions): OpenApiSource {
  const { serviceUrls, origin = '', agent, monotonicMs, log } = options
  const lastGood = new Map<string, Described>()
  let lastMerged: Written | undefined
  let round: { startedAt: number; merged: Promise<Written>; isOver: boolean } | undefined

  /** Resolves with true if the description has changed. */
  const read = async (service: string, url: string): Promise<boolean> => {
    try {
      const described = await fetchDocument(url, agent, lastGood.get(service)?.etag)
      if (described) lastGood.set(service, described)
      return described !== undefined
    } catch (error) {
      log.warn({ err: error, upstream: service }, 'could not read the OpenAPI document of a service')
      return false
    }
  }

  const merge = async (): Promise<Written> => {
    const changes = await Promise.all(Object.entries(serviceUrls).map(([service, url]) => read(service, url)))
    if (lastMerged !== undefined && !changes.includes(true)) return lastMerged
    // In the configured order, whichever responded first.
    const documents = Object.keys(serviceUrls).flatMap((service) => lastGood.get(service)?.document ?? [])
    try {
      const merged = await mergeOpenApi([ownDocument, ...documents], ownDocument.info)
      lastMerged = createRenderings(servedAt(origin, merged))
    } catch (error) {
      // For example two releases side by side during an update.
      if (lastMerged === undefined) throw error
      log.error({ err: error }, 'the OpenAPI documents of the services contradict each other')
    }
    return lastMerged
  }

  const latest = (): Promise<Written> => {
    const now = monotonicMs()
    // One round at a time, so that an older one cannot finish last.
    if (round !== undefined && (!round.isOver || now - round.startedAt < cacheMs)) return round.merged
    const newRound = { startedAt: now, merged: merge(), isOver: false }
    round = newRound
    const end = () => {
      newRound.isOver = true
      // A service without a description is requested again for the next caller.
      if (Object.keys(serviceUrls).some((name) => !lastGood.has(name))) round = undefined
    }
    newRound.merged.then(end, end)
    return newRound.merged
  }

  return { document: async (format) => (await latest())[format]() }
}

/** Paths outside the API have separate servers in the documents of the services. */
function servedAt(origin: string, { paths, ...document }: OpenApiDocument): OpenApiDocument {
  const items = Object.entries(paths ?? {}).map(([path, item]) => [
    path,
    item.servers ? { ...item, servers: [{ url: origin || '/' }] } : item,
  ])
  return { ...document, servers: [{ url: `${origin}${apiPrefix}` }], paths: Object.fromEntries(items) }
}

interface Written {
  json(): Promise<CachedDocument>
  yaml(): Promise<CachedDocument>
}

/** Each format is rendered on its first request. */
function createRenderings(document: OpenApiDocument): Written {
  let json: Promise<CachedDocument> | undefined
  let yaml: Promise<CachedDocument> | undefined
  const keep = async (contentType: string, bytes: Promise<Buffer>) => cacheDocument(contentType, await bytes)
  return {
    json: () => {
      json ??= keep('application/json; charset=utf-8', stringifyInSlices(document))
      return json
    },
    yaml: () => {
      yaml ??= keep('application/yaml; charset=utf-8', formatYamlInSlices(document))
      return yaml
    },
  }
}

/** Returns `undefined` if the document still has this `etag`. */
async function fetchDocument(
  baseUrl: string,
  dispatcher: Dispatcher,
  etag: string | undefined,
): Promise<Described | undefined> {
  const url = new URL('/internal/openapi.json', baseUrl)
  const { statusCode, headers, body } = await request(url, {
    dispatcher,
    headers: etag === undefined ? {} : { 'if-none-match': etag },
    signal: AbortSignal.timeout(fetchTimeoutMs),
  })
  if (statusCode === 304) {
    await body.dump()
    return undefined
  }
  const answer: unknown = await body.json()
  if (statusCode !== 200) throw new Error(`${url.href} answers ${statusCode}`)
  return { document: ServiceDocument.parse(answer), etag: headers.etag?.toString() }
}
