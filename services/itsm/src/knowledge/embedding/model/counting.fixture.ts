import { answerRequests } from '@opsplane/sandbox/answering'

// Replaces the model: the vector of a text is the number of replies of this process. Some texts have special effects.

let answered = 0

answerRequests(async (text) => {
  if (text === 'crash') process.exit(1)
  if (text === 'never') await new Promise(() => setInterval(() => {}, 1_000))
  answered++
  const vector = Buffer.from(Float32Array.from([answered, 0]).buffer).toString('base64')
  return JSON.stringify({ fluency: text.startsWith('foreign') ? -5 : -1, vector })
})
