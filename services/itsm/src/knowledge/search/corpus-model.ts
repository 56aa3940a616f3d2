import { setImmediate as nextTurn } from 'node:timers/promises'

/** How often each lexeme stands in one article. */
export type LexemeCounts = ReadonlyMap<string, number>

/** Vectors of articles and of queries in one space that was learnt from the articles alone. */
export interface CorpusModel {
  dims: number
  /** One unit vector per article, in the order given; of an article without known lexemes all zeros. */
  vectors: Float32Array
  /** A unit vector, or null when the corpus has none of the lexemes. */
  queryVector(lexemes: readonly string[]): Float32Array | null
  bytes: number
}

interface Sparse {
  terms: Int32Array
  weights: Float32Array
}

const mostTerms = 20_000
const mostDims = 96
const rounds = 4
/** Articles between two turns of the event loop, so that requests are answered meanwhile. */
const stride = 50

/**
 * Latent semantic analysis: the leading right singular subspace of the tf-idf matrix, by subspace iteration from
 * a fixed start. Words that keep the same company come to lie close, so that a query can find an article that
 * has none of its words. Equal input gives equal output.
 */
export async function fitCorpus(articles: readonly LexemeCounts[]): Promise<CorpusModel> {
  const { index, idf } = vocabulary(articles)
  const rows = articles.map((counts) => weigh(counts, index, idf))
  const dims = dimsFor(articles.length, index.size)
  let basis = start(index.size, dims)
  for (let round = 0; round < rounds; round++) {
    basis = await multiplied(rows, basis, index.size, dims)
    await orthonormalise(basis, index.size, dims)
  }
  const vectors = new Float32Array(rows.length * dims)
  for (const [at, row] of rows.entries()) {
    project(row, basis, dims, vectors.subarray(at * dims, (at + 1) * dims))
    if (at % stride === 0) await nextTurn()
  }
  return {
    dims,
    vectors,
    bytes: (vectors.length + basis.length) * 4 + index.size * 64,
    queryVector(lexemes) {
      const row = weigh(new Map(lexemes.map((lexeme) => [lexeme, 1])), index, idf)
      if (row.terms.length === 0) return null
      const vector = new Float32Array(dims)
      project(row, basis, dims, vector)
      return vector
    },
  }
}

/** Measured on the relevance set: half as many lose more by mixing subjects than they gain by likening words. */
function dimsFor(articles: number, terms: number): number {
  return Math.max(1, Math.min(mostDims, Math.round(4 * Math.sqrt(articles)), Math.floor(articles / 2), terms))
}

/** Lexemes of one article alone say nothing of company; those of most articles say nothing at all. */
function vocabulary(articles: readonly LexemeCounts[]) {
  const frequency = new Map<string, number>()
  for (const counts of articles)
    for (const lexeme of counts.keys()) frequency.set(lexeme, (frequency.get(lexeme) ?? 0) + 1)
  const kept = [...frequency]
    .filter(([, count]) => count >= 2 && count <= articles.length / 2)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, mostTerms)
  const index = new Map(kept.map(([lexeme], at) => [lexeme, at]))
  const idf = Float32Array.from(kept, ([, count]) => Math.log((articles.length + 1) / count))
  return { index, idf }
}

function weigh(counts: LexemeCounts, index: ReadonlyMap<string, number>, idf: Float32Array): Sparse {
  const entries = [...counts].flatMap(([lexeme, count]): [number, number][] => {
    const at = index.get(lexeme)
    return at === undefined ? [] : [[at, (1 + Math.log(count)) * (idf[at] ?? 0)]]
  })
  const length = Math.hypot(...entries.map(([, weight]) => weight)) || 1
  return {
    terms: Int32Array.from(entries, ([at]) => at),
    weights: Float32Array.from(entries, ([, weight]) => weight / length),
  }
}

/** Signs that look random and are the same every time. */
function start(terms: number, dims: number): Float32Array {
  let state = 0x9e3779b9
  return Float32Array.from({ length: terms * dims }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state & 0x40000000 ? 1 : -1
  })
}

/** AᵀA·basis, article by article. */
async function multiplied(rows: readonly Sparse[], basis: Float32Array, terms: number, dims: number) {
  const result = new Float32Array(terms * dims)
  const product = new Float32Array(dims)
  for (const [at, row] of rows.entries()) {
    if (at % stride === 0) await nextTurn()
    combine(row, basis, dims, product)
    for (const [position, term] of row.terms.entries()) {
      const weight = row.weights[position] ?? 0
      for (let dim = 0; dim < dims; dim++) {
        const cell = term * dims + dim
        result[cell] = (result[cell] ?? 0) + weight * (product[dim] ?? 0)
      }
    }
  }
  return result
}

/** Gram-Schmidt on the columns. A column that depends on those before becomes zero. */
async function orthonormalise(basis: Float32Array, terms: number, dims: number): Promise<void> {
  for (let dim = 0; dim < dims; dim++) {
    if (dim % 8 === 0) await nextTurn()
    for (let before = 0; before < dim; before++) {
      let dot = 0
      for (let cell = 0; cell < terms * dims; cell += dims)
        dot += (basis[cell + dim] ?? 0) * (basis[cell + before] ?? 0)
      for (let cell = 0; cell < terms * dims; cell += dims)
        basis[cell + dim] = (basis[cell + dim] ?? 0) - dot * (basis[cell + before] ?? 0)
    }
    let square = 0
    for (let cell = dim; cell < basis.length; cell += dims) square += (basis[cell] ?? 0) ** 2
    const scale = square > 1e-12 ? 1 / Math.sqrt(square) : 0
    for (let cell = dim; cell < basis.length; cell += dims) basis[cell] = (basis[cell] ?? 0) * scale
  }
}

function combine(row: Sparse, basis: Float32Array, dims: number, target: Float32Array): void {
  target.fill(0)
  for (const [position, term] of row.terms.entries()) {
    const weight = row.weights[position] ?? 0
    for (let dim = 0; dim < dims; dim++)
      target[dim] = (target[dim] ?? 0) + weight * (basis[term * dims + dim] ?? 0)
  }
}

function project(row: Sparse, basis: Float32Array, dims: number, target: Float32Array): void {
  combine(row, basis, dims, target)
  normalise(target)
}

/** To length 1, in place; zeros stay zeros. */
export function normalise(vector: Float32Array): Float32Array {
  let square = 0
  for (const value of vector) square += value * value
  if (square > 0) for (const [at, value] of vector.entries()) vector[at] = value / Math.sqrt(square)
  return vector
}
