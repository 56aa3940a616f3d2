import type { SlaPolicyPatch, SlaPolicyState } from '@opsplane/contracts'
import type { NamedPeople } from '../../people.js'

const fields = ['escalateTo', 'assigneeId', 'watcherIds'] as const

/** Whom the escalation rules of a policy name, by their places in it. */
export const escalationPeople = ({ escalations = [] }: Pick<SlaPolicyPatch, 'escalations'>): NamedPeople =>
  Object.fromEntries(
    escalations.flatMap((rule, index) =>
      fields.map((field) => [`escalations/${index}/${field}`, rule[field]] as const),
    ),
  )

/** For each place of a patch all users the policy named: rules may be reordered. */
export function formerlyNamed(
  patch: NamedPeople,
  { escalations }: Pick<SlaPolicyState, 'escalations'>,
): NamedPeople {
  const before = Object.values(escalationPeople({ escalations })).flatMap((people) => people ?? [])
  return Object.fromEntries(Object.keys(patch).map((place) => [place, before]))
}
