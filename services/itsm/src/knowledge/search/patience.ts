/** How long a search waits for something better before it makes do with less. */
export interface SearchPatience {
  /** For the vector of its query from the endpoint. */
  embeddingMs: number
  /** For its tenant's corpus, when it is the first to ask for it. */
  corpusMs: number
}

export const searchPatience: SearchPatience = { embeddingMs: 2_000, corpusMs: 1_500 }
