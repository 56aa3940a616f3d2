import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import type { ChildProgram } from '@opsplane/sandbox/child-process'
import { type EmbeddedModel, embeddedModel } from './embedded-model.js'

const root = fileURLToPath(new URL('../../../../../..', import.meta.url))
const program: ChildProgram = {
  file: fileURLToPath(new URL('./model/counting.fixture.js', import.meta.url)),
  readable: [root.replace(/\/$/, '')],
  heapMb: 64,
}
const longMs = 60_000
let model: EmbeddedModel

beforeEach(() => {
  model = embeddedModel(program)
})
afterEach(() => model.close())

it('returns a unit vector for each text, and none for a query in another language', async () => {
  const vectors = await model.embed(['a', 'b'], longMs)
  expect(vectors.map((vector) => [...vector])).toEqual([
    [1, 0],
    [1, 0],
  ])
  expect(await model.embedQuery('query', longMs)).toHaveLength(2)
  expect(await model.embedQuery('foreign query', longMs)).toBeNull()
})

it('answers a query before the remainder of a large batch', async () => {
  const order: string[] = []
  const batch = model
    .embed(
      Array.from({ length: 50 }, (_, at) => `text ${at}`),
      longMs,
    )
    .then(() => order.push('batch'))
  const query = model.embedQuery('query', longMs).then(() => order.push('query'))
  await Promise.all([batch, query])
  expect(order).toEqual(['query', 'batch'])
})

it('starts another process after a crash', async () => {
  await expect(model.embed(['crash'], longMs)).rejects.toMatchObject({ code: 'embeddings_unreachable' })
  expect(await model.embed(['a'], longMs)).toHaveLength(1)
})

it('rejects a text that exceeds the time limit, and every text after the model is closed', async () => {
  await expect(model.embed(['never'], 10)).rejects.toMatchObject({ code: 'embeddings_timeout' })
  await model.close()
  await expect(model.embed(['a'], longMs)).rejects.toMatchObject({ code: 'embeddings_unreachable' })
})
