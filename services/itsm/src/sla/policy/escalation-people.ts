import type { SlaPolicyPatch, SlaPolicyState } from '@opsplane/contracts'
import type { NamedPeople } from '../../people.js'

const fields = ['escalateTo', 'assigneeId', 'watcherIds'] as const

/** The users named by the escalation rules of a policy, keyed by path. */
export const escalationPeople = ({ escalations = [] }: Pick<SlaPolicyPatch, 'escalations'>): NamedPeople =>
  Object.fromEntries(
    escalations.flatMap((rule, index) =>
      fields.map((field) => [`escalations/${index}/${field}`, rule[field]] as const),
    ),
  )

/** For each path of a patch, all users the policy named before, because rules may be reordered. */
export function formerlyNamed(
  patch: NamedPeople,
  { escalations }: Pick<SlaPolicyState, 'escalations'>,
): NamedPeople {
  const before = Object.values(escalationPeople({ escalations })).flatMap((people) => people ?? [])
  return Object.fromEntries(Object.keys(patch).map((place) => [place, before]))
}
