import { sha256Hex } from '@opsplane/runtime'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { CallFailure } from './call-failure.js'
import { answeredFailure, type SendHttp } from './http-calls.js'
import type { Call } from './kind.js'

/**
 * Maximum size of a document read from a URL. The limit for YAML is lower, because YAML takes far longer to parse
 * than JSON.
 */
export const maxDocumentBytes = 2 * 1024 * 1024
const maxYamlBytes = 256 * 1024
const maxAliases = 100

const Loose = z.looseObject({})
export const OpenApiDocument = z.looseObject({
  openapi: z.string().regex(/^3\.[01]\.\d+$/, 'must be 3.0.x or 3.1.x'),
  servers: z
    .array(
      z.looseObject({
        url: z.string(),
        variables: z.record(z.string(), z.looseObject({ default: z.string() })).optional(),
      }),
    )
    .optional(),
  paths: z.record(z.string(), Loose).default({}),
  components: Loose.optional(),
})
export type OpenApiDocument = z.output<typeof OpenApiDocument>

/** A parsed document with an id of its content. */
export interface LoadedDocument {
  document: OpenApiDocument
  /** Identifies the content. */
  id: string
}

export type LoadDocument = (call: Call, url: string) => Promise<LoadedDocument>

const keptMs = 300_000
const maxKept = 16

/** Loads documents through the outbound guard, and caches each for five minutes. Throws `CallFailure`. */
export function createDocuments(send: SendHttp, nowMs = () => performance.now()): LoadDocument {
  const kept = new LRUCache<string, { loaded: LoadedDocument; until: number }>({ max: maxKept })
  return async (call, url) => {
    const { workspaceId, environment } = call.tenant
    const key = [workspaceId, environment, call.connectorId, url].join('\0')
    const known = kept.get(key)
    if (known && known.until > nowMs()) return known.loaded
    kept.delete(key)
    const loaded = await parsed(await read(send, call, url))
    kept.set(key, { loaded, until: nowMs() + keptMs })
    return loaded
  }
}

/** Sends no credentials: they are for the API, not for the server of its description. */
async function read(send: SendHttp, call: Call, url: string): Promise<string> {
  const answer = await send(call, {
    ...{ method: 'GET', url: new URL(url), repeatable: true, redirects: 3 },
    headers: { accept: 'application/json, application/yaml;q=0.9, */*;q=0.1' },
    maxResponseBytes: maxDocumentBytes,
  })
  if (answer.status >= 300) throw answeredFailure(answer)
  if (answer.truncated) throw unusable(`it has more than ${maxDocumentBytes} bytes`)
  return answer.body.toString()
}

async function parsed(text: string): Promise<LoadedDocument> {
  const result = OpenApiDocument.safeParse(await contentOf(text))
  if (result.success) return { document: result.data, id: sha256Hex(text) }
  const [issue] = result.error.issues
  throw unusable(`${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim())
}

/** The YAML parser is loaded with the first YAML document. */
async function contentOf(text: string): Promise<unknown> {
  try {
    return JSON.parse(text)
  } catch {
    if (text.length > maxYamlBytes) throw unusable(`as YAML it may have at most ${maxYamlBytes} bytes`)
    const { parse } = await import('yaml')
    try {
      return parse(text, { maxAliasCount: maxAliases })
    } catch {
      throw unusable('it is neither JSON nor YAML')
    }
  }
}

const unusable = (why: string) =>
  new CallFailure('protocol', `The OpenAPI document cannot be used: ${why}.`, { sent: false })
