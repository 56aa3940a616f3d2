import { expect, it } from '@jest/globals'
import { fitCorpus } from './corpus-model.js'
import { lexemeCounts } from './lexemes.js'
import { sizedCache } from './sized-cache.js'

const counts = (text: string) => new Map(text.split(' ').map((word) => [word, 1]))
/** Of two subjects. */
const articles = [
  ...['car engine wheel', 'car engine brake', 'car wheel brake'],
  ...['automobile engine wheel', 'automobile engine brake', 'automobile wheel brake'],
  ...[
    'soup salt pepper',
    'soup salt onion',
    'stew pepper onion',
    'stew salt pepper',
    'soup onion',
    'stew onion',
  ],
].map(counts)

const cosine = (a: Float32Array | null, b: Float32Array | null) =>
  (a ?? new Float32Array()).reduce((sum, value, at) => sum + value * (b?.[at] ?? 0), 0)

it('finds an article by the company of its words, and nothing for words it has not heard', async () => {
  const model = await fitCorpus(articles)
  const wheels = model.queryVector(['engine', 'wheel'])
  const vector = (at: number) => model.vectors.subarray(at * model.dims, (at + 1) * model.dims)
  const [sameSubject, soup] = [cosine(wheels, vector(1)), cosine(wheels, vector(6))]
  expect(sameSubject).toBeGreaterThan(soup)
  expect(model.queryVector(['unheard-of'])).toBeNull()
})

it('makes the same vectors of the same articles, each of length 1', async () => {
  const [one, two] = [await fitCorpus(articles), await fitCorpus(articles)]
  expect(one.vectors).toEqual(two.vectors)
  const first = one.vectors.subarray(0, one.dims)
  expect(cosine(first, first)).toBeCloseTo(1, 4)
})

it('reads lexemes and how often they stand from a tsvector', () => {
  const read = lexemeCounts(`'back\\\\slash':2 'mail':1A,7C,9 'o''clock':3C 'plain'`)
  expect([...read]).toEqual([
    ['back\\slash', 1],
    ['mail', 3],
    ["o'clock", 1],
    ['plain', 1],
  ])
})

it('drops what was not used for longest when there is too much', () => {
  const cache = sizedCache<{ bytes: number; name: string }>(10)
  cache.set('a', { bytes: 4, name: 'a' })
  cache.set('b', { bytes: 4, name: 'b' })
  cache.get('a')
  cache.set('c', { bytes: 4, name: 'c' })
  expect(['a', 'b', 'c'].map((key) => cache.get(key)?.name)).toEqual(['a', undefined, 'c'])
  cache.set('large', { bytes: 50, name: 'large' })
  expect([cache.get('large')?.name, cache.get('a'), cache.bytes]).toEqual(['large', undefined, 50])
})
