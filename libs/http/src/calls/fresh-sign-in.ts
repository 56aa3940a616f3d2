import { ApiError, type Principal, stepUpMs } from '@opsplane/contracts'

type SignIn = Pick<Principal, 'provedAt' | 'carriesSession'>

/**
 * For operations that create keys, change permissions, or send a secret to another host. Throws `step_up_required` for
 * a browser session without a recent proof of identity. Throws `forbidden` for a session whose rights an app, a
 * workflow or a pack uses: no person is present for a step-up, and the session may have ended long ago.
 */
export function requireFreshSignIn({ provedAt, carriesSession }: SignIn, now: string): void {
  if (carriesSession)
    throw new ApiError(
      'forbidden',
      'This takes a person who has just signed in, and not what an app, a workflow or an artifact does in their name. Do it ' +
        'yourself, or let an API key with the permission publish, deploy or install what is to do it.',
    )
  if (provedAt === undefined || Date.parse(now) - Date.parse(provedAt) < stepUpMs) return
  throw new ApiError(
    'step_up_required',
    'You signed in too long ago for this. Prove who you are by POST /auth/step-up, and send the request again.',
  )
}
