import { readFileSync } from 'node:fs'
import { sha256Hex } from '@opsplane/runtime'
import { z } from 'zod'

const File = z.strictObject({
  model: z.string(),
  dims: z.int(),
  /** By the SHA-256 of the text: signed bytes in base64. */
  vectors: z.record(z.string(), z.string()),
})

/**
 * The vectors a trained model makes of the texts of the set, for a local endpoint to serve. Throws for any other text:
 * what is measured would not be the model.
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
