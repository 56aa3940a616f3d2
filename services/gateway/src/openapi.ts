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
   * One document of what runs, the same one until something changes. A service that does not answer keeps its last description; one
   * that has never answered is left out. Throws when the descriptions contradict each other and never have been free of that.
   */
  document(format: 'json' | 'yaml'): Promise<CachedDocument>
}

export interface OpenApiSourceOptions {
  serviceUrls: Readonly<Record<string, string>>
  /** Where the platform is; undefined for where the document came from. */
  origin: string | undefined
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

interface Described {
  document: OpenApiDocument
  etag: string | undefined
}

/** Concurrent callers share one round of asking. What is the same as before is neither read nor merged again. */
export function createOpenApiSource(options: OpenApiSourceOptions): OpenApiSource {
  const { serviceUrls, origin = '', agent, monotonicMs, log } = options
  const lastGood = new Map<string, Described>()
  let lastMerged: Written | undefined
  let round: { startedAt: number; merged: Promise<Written>; isOver: boolean } | undefined

  /** Resolves with whether there is something new. */
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
    // In the configured order, whichever answered first.
    const documents = Object.keys(serviceUrls).flatMap((service) => lastGood.get(service)?.document ?? [])
    try {
      const merged = await mergeOpenApi([ownDocument, ...documents], ownDocument.info)
      lastMerged = writtenOf(servedAt(origin, merged))
    } catch (error) {
      // Such as two releases side by side during an update.
      if (lastMerged === undefined) throw error
      log.error({ err: error }, 'the OpenAPI documents of the services contradict each other')
    }
    return lastMerged
  }

  const latest = (): Promise<Written> => {
    const now = monotonicMs()
    // One at a time, so that an older one cannot finish last.
    if (round !== undefined && (!round.isOver || now - round.startedAt < cacheMs)) return round.merged
    const asking = { startedAt: now, merged: merge(), isOver: false }
    round = asking
    const end = () => {
      asking.isOver = true
      // A service that has not described itself yet is asked again by the next request.
      if (Object.keys(serviceUrls).some((name) => !lastGood.has(name))) round = undefined
    }
    asking.merged.then(end, end)
    return asking.merged
  }

  return { document: async (format) => (await latest())[format]() }
}

/** What is outside of the API has servers of its own in the documents of the services. */
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

/** Each format is written when it is first asked for. */
function writtenOf(document: OpenApiDocument): Written {
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

/** Undefined where it is still the one of `etag`. */
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
