import {
  allowsHost,
  type CommandMeta,
  isLiteralHost,
  maxSecretHosts,
  type Principal,
  type SecretTarget,
  type SecretTargetProblems,
} from '@opsplane/contracts'
import { requireFreshSignIn } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { type StoredSecret, secret } from './domain.js'
import { secretsByName } from './queries.js'

type Problem = SecretTargetProblems['problems'][number]

export interface DefinitionSecrets {
  /** The person who saves the definition. */
  principal: Pick<Principal, 'permissions' | 'provedAt' | 'carriesSession'>
  targets: readonly SecretTarget[]
  admit: boolean
}

export type SecretTargets = ReturnType<typeof createSecretTargets>

/** Checks the secrets that definitions refer to against the stored ones. */
export function createSecretTargets({ store, database: { db } }: Pick<ServiceContext, 'store' | 'database'>) {
  const secrets = store.aggregate(secret)

  return async (
    { principal, targets, admit }: DefinitionSecrets,
    meta: CommandMeta,
  ): Promise<SecretTargetProblems> => {
    const { permissions } = principal
    // Only callers who may use or see secrets may learn which names exist.
    if (!knowing.some((each) => permissions.includes(each))) return { problems: [] }
    const names = [...new Set(targets.map(({ name }) => name))]
    const stored = new Map((await secretsByName(db, meta.tenant, names)).map((each) => [each.name, each]))
    const mayAdd = permissions.includes('secrets:write')
    const missing = targets.map(({ name, hosts }) => missingHosts(stored.get(name), hosts))
    if (admit && mayAdd)
      for (const [name, { id }] of stored) {
        const hosts = missing.flatMap((each, at) =>
          targets[at]?.name === name ? each.filter(isLiteralHost) : [],
        )
        if (hosts.length === 0) continue
        requireFreshSignIn(principal, meta.now)
        await secrets.handle(id, { kind: 'add_hosts', hosts, now: meta.now }, meta)
      }
    return {
      problems: targets.flatMap(({ name }, at) => {
        const found = findProblem(stored.get(name), name, missing[at] ?? [], mayAdd)
        return found ? [{ target: at, ...found }] : []
      }),
    }
  }
}

const knowing = ['secrets:use', 'secrets:read', 'secrets:write'] as const

/** Empty if the secret already allows one of the hosts, or a host that matches one of them as a pattern. */
const missingHosts = (found: StoredSecret | undefined, hosts: readonly string[]): readonly string[] =>
  found === undefined || hosts.some((host) => serves(found, host)) ? [] : hosts

const serves = ({ hosts }: StoredSecret, targetHost: string): boolean =>
  allowsHost(hosts, targetHost) ||
  (targetHost !== '*' && hosts.some((host) => allowsHost([targetHost], host)))

function findProblem(
  found: StoredSecret | undefined,
  name: string,
  missing: readonly string[],
  mayAdd: boolean,
): Omit<Problem, 'target'> | undefined {
  if (!found)
    return {
      code: 'unknown_secret',
      message: `names the secret ${name}, which does not exist in this environment; store it with POST /secrets`,
    }
  const literal = missing.filter(isLiteralHost)
  if (missing.length === 0 || (mayAdd && literal.length > 0 && hasRoom(found, literal))) return undefined
  const way =
    literal.length > 0
      ? 'a caller with secrets:write adds it by saving this, or'
      : 'a caller with secrets:write adds it'
  return {
    code: 'secret_host_not_allowed',
    message: `names the secret ${name}, which may not be sent to ${missing.join(', ')}; ${way} by PUT /secrets/${name}`,
  }
}

const hasRoom = ({ hosts }: StoredSecret, more: readonly string[]) =>
  hosts.length + more.length <= maxSecretHosts
