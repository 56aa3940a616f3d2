import { OpsplaneError } from '@opsplane/client'

/** What a request lacks: a session, or a recent proof of who its person is. */
export type Lacking = 'session' | 'step_up'
/** Asks the person for it; resolves to whether they proved it. */
type AskForProof = (lacking: Lacking) => Promise<boolean>

let askForProof: AskForProof | undefined
let asking: Promise<boolean> | undefined

/** From now on requests that lack a proof ask for it in place, and are sent again with it. Returns how to end that. */
export function proveBy(ask: AskForProof): () => void {
  askForProof = ask
  return () => {
    if (askForProof === ask) askForProof = undefined
  }
}

/**
 * Sends a request. Where it lacks a proof its person is asked once, however many requests lack it at the same time, and it is
 * sent again as it was: nothing that was typed is lost when a session ends.
 */
export async function sendWithProof(
  request: Request,
  send: (request: Request) => Promise<Response>,
): Promise<Response> {
  const again = request.clone()
  const response = await send(request)
  const lacking = await lackingIn(request, response)
  if (lacking === undefined || askForProof === undefined) return response
  asking ??= askForProof(lacking).finally(() => {
    asking = undefined
  })
  return (await asking) && !request.signal.aborted ? send(again) : response
}

/** There is no session, or it is over. */
export const sessionCodes: ReadonlySet<string> = new Set([
  'unauthenticated',
  'invalid_token',
  'token_expired',
])
/** Where `invalid_token` means a token in the body. */
const withTokens = /\/auth\/(step-up|factors\/passkeys|address\/prove\/confirm)$/

async function lackingIn({ url }: Request, response: Response): Promise<Lacking | undefined> {
  if (response.status !== 401 && response.status !== 403) return undefined
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  const { code = '' } = new OpsplaneError(response.status, body, response)
  if (code === 'step_up_required') return 'step_up'
  if (code === 'invalid_token' && withTokens.test(new URL(url).pathname)) return undefined
  return sessionCodes.has(code) ? 'session' : undefined
}
