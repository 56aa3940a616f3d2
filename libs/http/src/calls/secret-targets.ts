import {
  type ErrorDetail,
  maxSecretTargets,
  type SecretTarget,
  SecretTargetProblems,
} from '@opsplane/contracts'
import type { RequestMeta } from '../route/route.js'
import { validationFailed } from '../route/validation.js'
import type { SecretSource } from './secret-values.js'

/** The request that saves a definition. */
export type SavingMeta = Pick<RequestMeta, 'clientToken' | 'tenant'>

interface SecretTargetProblem<Target> {
  target: Target
  code: string
  /** Describes the definition, for example `names the secret token, which …`. */
  message: string
}

/** Compares the secrets named by a definition with the existing ones, for the person who saves it. */
export interface SecretTargets {
  /** Returns the problems that prevent the definition from using the secrets. Changes nothing. */
  check<Target extends SecretTarget>(
    meta: SavingMeta,
    targets: readonly Target[],
  ): Promise<SecretTargetProblem<Target>[]>
  /** Adds missing hosts to the secrets, if the person has `secrets:write`. */
  admit(meta: SavingMeta, targets: readonly SecretTarget[]): Promise<void>
  /**
   * Checks and admits, for definitions that take effect when saved. Throws `validation_failed`
   * with a detail for each problem.
   */
  require(meta: SavingMeta, targets: readonly (SecretTarget & { path: string })[]): Promise<void>
}

/** `settings`: a client of settings with this service's own identity. */
export function createSecretTargets(settings: SecretSource): SecretTargets {
  const findProblems = async (
    { clientToken, tenant: { environment } }: SavingMeta,
    targets: readonly SecretTarget[],
    admit: boolean,
  ) => {
    // Without a person's request, a definition cannot name new secrets.
    if (clientToken === undefined) return []
    const found: SecretTargetProblems['problems'] = []
    for (let from = 0; from < targets.length; from += maxSecretTargets) {
      const some = targets.slice(from, from + maxSecretTargets).map(({ name, hosts }) => ({ name, hosts }))
      const question = { clientToken, environment, targets: some, admit }
      const { problems } = await settings.post('/internal/secrets/targets', question, SecretTargetProblems)
      found.push(...problems.map((each) => ({ ...each, target: from + each.target })))
    }
    return found
  }

  const check: SecretTargets['check'] = async (meta, targets) =>
    (await findProblems(meta, targets, false)).flatMap(({ target: at, code, message }) => {
      const target = targets[at]
      return target ? [{ target, code, message }] : []
    })
  const admit: SecretTargets['admit'] = async (meta, targets) =>
    void (await findProblems(meta, targets, true))

  return {
    check,
    admit,
    async require(meta, targets) {
      const details = (await check(meta, targets)).map(
        ({ target: { path }, code, message }): ErrorDetail => ({ in: 'body', path, code, message }),
      )
      if (details.length > 0) throw validationFailed(details)
      await admit(meta, targets)
    },
  }
}
