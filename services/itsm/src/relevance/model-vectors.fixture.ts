import { readFileSync } from 'node:fs'
import { sha256Hex } from '@opsplane/runtime'
import { z } from 'zod'

const File = z.strictObject({
  model: z.string(),
  dims: z.int(),
  /** Vectors by the SHA-256 of the text, as signed bytes in base64. */
  vectors: z.record(z.string(), z.string()),
})

/**
 * Vectors of a trained model for the texts of the set, to be served by a local endpoint. Throws for any other text,
 * because the measurement would then not be of the model.
 */
export function modelVectors(): { model: string; vectorOf(text: string): number[] } {
  const file = new URL('../../relevance/vectors.json', import.meta.url)
  const { model, dims, vectors } = File.parse(JSON.parse(readFileSync(file, 'utf8')))
  return {
    model,
    vectorOf(text) {
      const bytes = Buffer.from(vectors[sha256Hex(text)] ?? '', 'base64')
      if (bytes.length !== dims)
        throw new Error(`relevance/vectors.json has no vector of "${text.slice(0, 60)}"`)
      return [...new Int8Array(bytes)]
    },
  }
}
