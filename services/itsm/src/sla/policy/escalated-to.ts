import type { SlaPolicyPatch, SlaPolicyState } from '@opsplane/contracts'
import type { Named } from '../../people.js'

const fields = ['escalateTo', 'assigneeId', 'watcherIds'] as const

/** Whom the escalation rules of a policy name, by their places in it. */
export const escalatedTo = ({ escalations = [] }: Pick<SlaPolicyPatch, 'escalations'>): Named =>
  Object.fromEntries(
    escalations.flatMap((rule, index) =>
      fields.map((field) => [`escalations/${index}/${field}`, rule[field]] as const),
    ),
  )

/** For each place of a patch everybody the policy named: rules may be put in another order. */
export function alreadyNamed(patch: Named, { escalations }: Pick<SlaPolicyState, 'escalations'>): Named {
  const before = Object.values(escalatedTo({ escalations })).flatMap((people) => people ?? [])
  return Object.fromEntries(Object.keys(patch).map((place) => [place, before]))
}
