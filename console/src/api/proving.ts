import { OpsplaneError } from '@opsplane/client'

/** What a request lacks: a session, or a recent proof of identity (step-up). */
export type Lacking = 'session' | 'step_up'
/** Prompts the person; resolves with whether they proved their identity. */
type AskForProof = (lacking: Lacking) => Promise<boolean>

let promptForProof: AskForProof | undefined
let pendingProof: Promise<boolean> | undefined

/**
 * Registers `prompt`: requests that lack a proof prompt for it in place and are then sent again. Returns a function that
 * unregisters it.
 */
export function proveBy(prompt: AskForProof): () => void {
  promptForProof = prompt
  return () => {
    if (promptForProof === prompt) promptForProof = undefined
  }
}

/**
 * Sends a request. If it lacks a proof, the person is prompted once, even if several requests lack it at the same time,
 * and the unchanged request is sent again, so no typed input is lost when a session ends.
 */
export async function sendWithProof(
  request: Request,
  send: (request: Request) => Promise<Response>,
): Promise<Response> {
  const again = request.clone()
  const response = await send(request)
  const lacking = await lackingIn(request, response)
  if (lacking === undefined || promptForProof === undefined) return response
  pendingProof ??= promptForProof(lacking).finally(() => {
    pendingProof = undefined
  })
  return (await pendingProof) && !request.signal.aborted ? send(again) : response
}

/** There is no session, or it has ended. */
export const sessionCodes: ReadonlySet<string> = new Set([
  'unauthenticated',
  'invalid_token',
  'token_expired',
])
/** Paths for which `invalid_token` refers to a token in the body. */
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
