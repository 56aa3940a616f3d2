/** How long a search waits for a better result before it continues without it. */
export interface SearchTimeouts {
  /** Maximum wait in milliseconds for the query's vector. */
  embeddingMs: number
}

export const searchTimeouts: SearchTimeouts = { embeddingMs: 2_000 }
