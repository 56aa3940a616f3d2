import { type Dispatcher, request } from 'undici'

const timeoutMs = 2_000

/** Asks every service at once whether it lives: `up`, or what is wrong. */
export async function readServices(
  urls: Readonly<Record<string, string>>,
  agent: Dispatcher,
): Promise<Record<string, string>> {
  const states = Object.entries(urls).map(async ([name, url]) => [name, await stateOf(url, agent)] as const)
  return Object.fromEntries(await Promise.all(states))
}

async function stateOf(url: string, dispatcher: Dispatcher): Promise<string> {
  try {
    const { statusCode, body } = await request(new URL('/healthz', url), {
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs),
    })
    await body.dump()
    return statusCode === 200 ? 'up' : `answers ${statusCode}`
  } catch {
    return 'does not answer'
  }
}
