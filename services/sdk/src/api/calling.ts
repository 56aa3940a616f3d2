import { ApiError, type ArtifactApi, notFound } from '@opsplane/contracts'
import { computeRequestDepth, type RawAnswer, type RawRequest, type RequestMeta } from '@opsplane/http'
import { executionCaller, type Invoking, recordsIn, triggerOf } from '../invoke/invoking.js'
import { checkedInput } from '../invoke/schemas.js'
import { answerOf, faultOfAnswer } from './answer.js'
import { artifactRequest } from './request.js'

/** Answers a request by an artifact of the kind `api`, by its id or slug. Throws what the request is answered with else. */
export type CallArtifact = (idOrSlug: string, request: RawRequest, meta: RequestMeta) => Promise<RawAnswer>

/** Of `/sdk/artifacts/:id/api`, before an artifact's own path. */
const segmentsBefore = 4

export function createCalling({ load, once }: Pick<Invoking, 'load' | 'once'>): CallArtifact {
  return async (idOrSlug, request, meta) => {
    const artifact = await load(meta.tenant, idOrSlug)
    if (artifact.api === null) throw notFound()
    refuseMethod(request.method, artifact.api)
    const given = artifactRequest(request, artifact.api, segmentsBefore)
    const { segments, query, body } = given
    const input = checkedInput(artifact.inputSchema, { ...given }, partOf)
    const { key, fingerprint } = request.repetition ?? {}
    const { execution, isRepeated } = await once(
      {
        ...{ tenant: meta.tenant, artifact, type: 'api', trigger: triggerOf(meta), input },
        ...{
          now: meta.now,
          requestId: meta.requestId,
          traceparent: meta.traceparent,
          depth: computeRequestDepth(meta),
        },
        caller: executionCaller(meta.principal),
        key:
          key === undefined ? null : { key: `api/${artifact.id}/${key}`, fingerprint: fingerprint ?? null },
        records: recordsIn([...segments, ...Object.values(query), ...valuesOf(body)]),
        faultOf: faultOfAnswer,
      },
      { mode: 'sync' },
    )
    return answerOf(execution, isRepeated)
  }
}

function refuseMethod(method: string, { methods }: ArtifactApi): void {
  const names: string[] = [...methods]
  if (names.includes(method === 'HEAD' ? 'GET' : method)) return
  const allowed = (names.includes('GET') ? ['HEAD', ...names] : names).sort().join(', ')
  throw new ApiError('method_not_allowed', `The artifact does not take ${method}. It takes: ${allowed}.`, {
    headers: { Allow: allowed },
  })
}

const valuesOf = (body: unknown): unknown[] =>
  typeof body === 'object' && body !== null ? Object.values(body) : []

/** Where in the request a part of the input came from. */
function partOf(pointer: string) {
  const [, part = '', ...rest] = pointer.split('/')
  const below = rest.length > 0 ? `/${rest.join('/')}` : ''
  if (part === 'body' || part === 'query') return { in: part, path: below } as const
  if (part === 'headers') return { in: 'header', path: below } as const
  return { in: 'path', path: pointer } as const
}
