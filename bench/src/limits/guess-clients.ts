import { Agent, request } from 'undici'
import { evenly } from '../load.js'

/** Reply to `ask`: number of guesses by response status. */
export type GuessCounts = Record<string, number>

/**
 * Number of addresses that guesses come from. Guesses are for `accounts` different accounts; every fourth is for the
 * account EMAIL.
 */
const addresses = 400
const accounts = 200
const connections = 512

const { BASE_URL: base = '', TARGET: target = '', EMAIL: email = '', PER_SECOND, SECONDS } = process.env
const agent = new Agent({ connections })
let counts: GuessCounts = {}

async function guess(n: number): Promise<void> {
  const login = n % 4 === 0 ? email : `guessed${n % accounts}@example.com`
  const answer = await request(`${base}${target}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': `198.51.${n % 2}.${Math.floor(n / 2) % (addresses / 2)}`,
    },
    body: JSON.stringify({ email: login, password: `guess ${n}` }),
    dispatcher: agent,
  })
  await answer.body.dump()
  counts[answer.statusCode] = (counts[answer.statusCode] ?? 0) + 1
}

// A separate process, so that its CPU use is not measured as another client's latency.
process.on('message', () => {
  process.send?.(counts)
  counts = {}
})
process.send?.({ port: 0 })
await evenly({ rate: Number(PER_SECOND), seconds: Number(SECONDS) }, guess)
