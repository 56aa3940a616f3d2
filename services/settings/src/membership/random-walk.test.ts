import { expect, it } from '@jest/globals'
import { ApiError, membershipStatuses, UserState, userActions } from '@opsplane/contracts'
import { searchTimes, seededRandom } from '@opsplane/testing'
import { type MembershipCommand, type MembershipState, membership } from './domain.js'
import { invitation, invite, now } from './sample-members.fixture.js'
import { allowedActions, transitions } from './transitions.js'

/** Seeded, so that every run performs the same walks. */
function generator(seed: number) {
  const next = seededRandom(seed)
  return <T>(first: T, ...others: T[]): T =>
    [first, ...others][Math.floor(next() * (others.length + 1))] ?? first
}

function randomCommand(pick: ReturnType<typeof generator>): MembershipCommand {
  const otherOwners = pick(0, 0, 1)
  const role = pick('owner', 'admin', 'viewer')
  return pick<MembershipCommand>(
    { ...invite, role },
    {
      kind: 'accept',
      tokenHash: pick(invitation.tokenHash, 'b'.repeat(64)),
      name: 'Ada',
      addressProven: pick(true, false),
      now,
    },
    { kind: 'patch', patch: { role }, otherOwners, now },
    { kind: 'patch', patch: { status: pick('active', 'suspended') }, otherOwners, now },
    { kind: 'patch', patch: { role, status: pick('active', 'suspended') }, otherOwners, now },
    { kind: 'remove', otherOwners, now },
  )
}

const isActiveOwner = ({ role, status }: MembershipState) => role === 'owner' && status === 'active'

/** Invariants of every membership. */
function expectSound(before: MembershipState, after: MembershipState): void {
  const ways = userActions.map((action) => transitions[action][before.status])
  expect(ways).toContain(after.status)
  expect(UserState.safeParse(membership.expose(after)).error).toBeUndefined()
  expect(after.invitation !== undefined).toBe(after.status === 'invited')
  expect([after.id, after.userId, after.createdAt]).toEqual([before.id, before.userId, before.createdAt])
}

/** One command can make an owner and suspend them: only the resulting state counts. */
function expectAnOwner(before: MembershipState, after: MembershipState, command: MembershipCommand): void {
  const guarded = 'otherOwners' in command && command.otherOwners === 0 && isActiveOwner(before)
  if (guarded) expect(isActiveOwner(after)).toBe(true)
}

it('random commands never leave the table of transitions', () => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= 130 * searchTimes; seed += 1) {
    const pick = generator(seed)
    let state = membership.decide(invite, null).at(-1)?.after ?? null
    for (let step = 0; step < 40 && state !== null; step += 1) {
      const command = randomCommand(pick)
      const before: MembershipState = state
      try {
        for (const { after } of membership.decide(command, before)) {
          if (after === null) throw new Error('Memberships are never deleted.')
          expectSound(state, after)
          seen.add(after.status)
          state = after
        }
        expectAnOwner(before, state, command)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        expect(['invalid_state_transition', 'conflict', 'invalid_token']).toContain(error.code)
      }
    }
  }
  expect([...seen].sort()).toEqual([...membershipStatuses].sort())
})

it('every status allows at least one action', () => {
  for (const status of membershipStatuses) expect(allowedActions(status)).not.toEqual([])
})
