import { ApiError, type ArtifactApi, notFound } from '@opsplane/contracts'
import { computeRequestDepth, type RawAnswer, type RawRequest, type RequestMeta } from '@opsplane/http'
import { findRecords, type Invoker, toExecutionCaller, toTrigger } from '../invoke/invoker.js'
import { validateInput } from '../invoke/schemas.js'
import { buildArtifactRequest } from './request.js'
import { buildResponse, findResponseFault } from './response.js'

/** Answers a request with an artifact of kind `api`, by its id or slug. Throws the error to respond with otherwise. */
export type CallArtifact = (idOrSlug: string, request: RawRequest, meta: RequestMeta) => Promise<RawAnswer>

/** Path segments of `/sdk/artifacts/:id/api` before the artifact's own path. */
const segmentsBefore = 4

export function createCallArtifact({ load, once }: Pick<Invoker, 'load' | 'once'>): CallArtifact {
  return async (idOrSlug, request, meta) => {
    const artifact = await load(meta.tenant, idOrSlug)
    if (artifact.api === null) throw notFound()
    refuseMethod(request.method, artifact.api)
    const artifactRequest = buildArtifactRequest(request, artifact.api, segmentsBefore)
    const { segments, query, body } = artifactRequest
    const input = validateInput(artifact.inputSchema, { ...artifactRequest }, partOf)
    const { key, fingerprint } = request.repetition ?? {}
    const { execution, isRepeated } = await once(
      {
        ...{ tenant: meta.tenant, artifact, type: 'api', trigger: toTrigger(meta), input },
        ...{
          now: meta.now,
          requestId: meta.requestId,
          traceparent: meta.traceparent,
          depth: computeRequestDepth(meta),
        },
        caller: toExecutionCaller(meta.principal),
        key:
          key === undefined ? null : { key: `api/${artifact.id}/${key}`, fingerprint: fingerprint ?? null },
        records: findRecords([...segments, ...Object.values(query), ...valuesOf(body)]),
        faultOf: findResponseFault,
      },
      { mode: 'sync' },
    )
    return buildResponse(execution, isRepeated)
  }
}

function refuseMethod(method: string, { methods }: ArtifactApi): void {
  const names: string[] = [...methods]
  if (names.includes(method === 'HEAD' ? 'GET' : method)) return
  const allowed = (names.includes('GET') ? ['HEAD', ...names] : names).sort().join(', ')
  throw new ApiError('method_not_allowed', `The artifact does not support ${method}. Allowed: ${allowed}.`, {
    headers: { Allow: allowed },
  })
}

const valuesOf = (body: unknown): unknown[] =>
  typeof body === 'object' && body !== null ? Object.values(body) : []

/** Maps a pointer into the input to the part of the request it was taken from. */
function partOf(pointer: string) {
  const [, part = '', ...rest] = pointer.split('/')
  const below = rest.length > 0 ? `/${rest.join('/')}` : ''
  if (part === 'body' || part === 'query') return { in: part, path: below } as const
  if (part === 'headers') return { in: 'header', path: below } as const
  return { in: 'path', path: pointer } as const
}
