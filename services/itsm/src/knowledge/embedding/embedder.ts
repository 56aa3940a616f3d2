import type { Outbound } from '@opsplane/http'
import { OutboundError } from '@opsplane/http'
import { z } from 'zod'

/** Reason why there are no vectors. The code may be returned in the answer of a search. */
export class EmbeddingError extends Error {
  constructor(
    readonly code:
      | 'embeddings_timeout'
      | 'embeddings_unreachable'
      | 'embeddings_refused'
      | 'embeddings_bad_answer',
    message: string,
    options: { cause?: unknown } = {},
  ) {
    super(message, options)
    this.name = 'EmbeddingError'
  }
}

/** Converts texts to unit vectors of one model. */
export interface Embedder {
  model: string
  /** Languages of the articles the model supports. All languages if omitted. */
  languages?: readonly string[]
  /** Minimum cosine of a match, below which neighbours are random. Measured on the relevance set. */
  minCosine: number
  /** Returns one vector per text, in the same order and all of the same length. Throws EmbeddingError. */
  embed(texts: readonly string[], timeoutMs: number): Promise<Float32Array[]>
  /** Returns `null` if the query is not in a language of the model. Throws EmbeddingError. */
  embedQuery(query: string, timeoutMs: number): Promise<Float32Array | null>
}

export interface EmbedderOptions {
  outbound: Pick<Outbound, 'request'>
  /** URL of an OpenAI-compatible service: its base URL or the full address of its embeddings endpoint. */
  url: string
  model: string
  apiKey?: string | undefined
}

const Answer = z.object({
  data: z.array(
    z.object({ index: z.int().min(0).optional(), embedding: z.array(z.number()).min(1).max(8_192) }),
  ),
})
const maxBytes = 8 * 1024 * 1024

export function openAiEmbedder({ outbound, url, model, apiKey }: EmbedderOptions): Embedder {
  const address = resolveEndpoint(url)
  const post = async (texts: readonly string[], timeoutMs: number) => {
    try {
      return await outbound.request({
        url: address,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(apiKey && { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
        timeoutMs,
        maxResponseBytes: maxBytes,
        repeatable: true,
      })
    } catch (cause) {
      const late = cause instanceof OutboundError && cause.kind === 'timeout'
      const message = cause instanceof Error ? cause.message : String(cause)
      throw new EmbeddingError(late ? 'embeddings_timeout' : 'embeddings_unreachable', message, { cause })
    }
  }
  const embed = async (texts: readonly string[], timeoutMs: number) => {
    const { status, body } = await post(texts, timeoutMs)
    if (status !== 200) throw new EmbeddingError('embeddings_refused', `It answered with status ${status}.`)
    return parseVectors(body.toString('utf8'), texts.length)
  }
  return {
    model,
    minCosine: 0.2,
    embed,
    embedQuery: async (query, timeoutMs) => (await embed([query], timeoutMs))[0] ?? null,
  }
}

/** Scales the vector to length 1 in place. A zero vector stays zero. */
export function normalise(vector: Float32Array): Float32Array {
  let square = 0
  for (const value of vector) square += value * value
  if (square > 0) for (const [at, value] of vector.entries()) vector[at] = value / Math.sqrt(square)
  return vector
}

function resolveEndpoint(url: string): string {
  const base = url.replace(/\/+$/, '')
  if (base.endsWith('/embeddings')) return base
  return base.endsWith('/v1') ? `${base}/embeddings` : `${base}/v1/embeddings`
}

function parseVectors(text: string, count: number): Float32Array[] {
  const bad = (message: string, cause?: unknown) =>
    new EmbeddingError('embeddings_bad_answer', message, { cause })
  let data: z.infer<typeof Answer>['data']
  try {
    data = Answer.parse(JSON.parse(text)).data
  } catch (cause) {
    throw bad('It did not answer with embeddings.', cause)
  }
  if (data.length !== count) throw bad(`It answered with ${data.length} vectors for ${count} texts.`)
  const ordered = data.map((entry, at) => ({ at: entry.index ?? at, embedding: entry.embedding }))
  ordered.sort((a, b) => a.at - b.at)
  if (ordered.some(({ at }, place) => at !== place)) throw bad('The vectors are not numbered like the texts.')
  if (new Set(ordered.map(({ embedding }) => embedding.length)).size > 1)
    throw bad('The vectors are of different lengths.')
  return ordered.map(({ embedding }) => normalise(Float32Array.from(embedding)))
}
