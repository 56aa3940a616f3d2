/** How long a search waits for something better before it makes do with less. */
export interface SearchTimeouts {
  /** For the vector of its query from the endpoint. */
  embeddingMs: number
}

export const searchTimeouts: SearchTimeouts = { embeddingMs: 2_000 }
