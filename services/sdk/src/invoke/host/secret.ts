import type { ResolveSecrets } from '@opsplane/http'
import { HostError } from '@opsplane/sandbox'
import { z } from 'zod'
import type { HostContext, HostFunction } from './host-call.js'

const Call = z.strictObject({ name: z.string().min(1).max(128), plain: z.boolean().default(false) })

/** Throws `forbidden` if the caller of the execution may not use secrets. */
export function requireSecretsUse(caller: HostContext['caller']): void {
  if (caller?.permissions?.includes('secrets:use') === false)
    throw new HostError('forbidden', 'The caller of this execution may not use secrets.')
}

/** Host for which plain values are resolved: the code itself may send them anywhere. */
const codeHost = '*'

/**
 * Returns a handle of a secret, which `http` fills in for the secret's hosts. With `plain`, if granted, returns the
 * value of a secret allowed for every host.
 */
export const secretFunction =
  (resolve: ResolveSecrets): HostFunction =>
  async ({ artifact, tenant, caller, conceal }, argument) => {
    const { name, plain } = Call.parse(argument)
    requireSecretsUse(caller)
    const { secrets, secretsPlain } = artifact.permissions
    if (!(plain ? secretsPlain : [...secrets, ...secretsPlain]).includes(name))
      throw new HostError(
        'not_permitted',
        plain
          ? `The artifact has not declared that it reads the secret ${name}.`
          : `The artifact has not declared the secret ${name}.`,
      )
    if (!plain) return `{{secrets.${name}}}`
    const user = { tenant, userId: artifact.ownerId, consumer: `artifact/${artifact.id}`, host: codeHost }
    const { values, refused } = await resolve(user, [name])
    if (refused[name])
      throw new HostError(
        'secret_refused',
        refused[name] === 'host_not_allowed'
          ? `The secret ${name} is for certain hosts only, so its value is not given away.`
          : `The secret ${name} may not be used by the installer of the artifact.`,
      )
    const value = values[name]
    if (value === undefined) throw new HostError('unknown_secret', `The secret ${name} does not exist.`)
    conceal([value])
    return value
  }
