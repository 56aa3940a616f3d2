/** How long a search waits for something better before it makes do with less. */
export interface SearchPatience {
  /** For the vector of its query from the endpoint. */
  embeddingMs: number
}

export const searchPatience: SearchPatience = { embeddingMs: 2_000 }
