import type {
  ChangeAction,
  Decision,
  IncidentComment,
  IncidentState,
  SlaGoalKey,
  SlaPolicyState,
} from '@opsplane/contracts'
import { seededRandom } from '@opsplane/testing'
import type { ChangeRecord } from '../../change/approval/separation-of-duties.js'
import type { ChangeCommand } from '../../change/commands.js'
import { change } from '../../change/domain.js'
import {
  approver,
  steps as changeSteps,
  createCommand,
  person,
  technicalApprover,
} from '../../change/sample-changes.fixture.js'
import { allowedActions } from '../../change/transitions.js'
import { incident } from '../../incident/domain.js'
import { agent, comment, create } from '../../incident/sample-incidents.fixture.js'
import type { IncidentStep } from '../../incident/steps.js'
import { changeEntity } from '../entity/change-entity.js'
import type { SlaFacts } from '../entity/entity.js'
import { incidentEntity } from '../entity/incident-entity.js'
import type { Change } from './timer.js'

const iso = (ms: number) => new Date(ms).toISOString()

/** An event as the reference implementation sees it: actions of people and statuses, without span signals. */
export interface ObservedChange extends Change {
  /** Whether a span begins, unless one is already open. */
  asked: boolean
  ended: 'done' | 'off' | null
  held: boolean
  key: SlaGoalKey
}

export interface Random {
  next: () => number
  pick<T>(items: readonly T[]): T
}

export function generator(seed: number): Random {
  const next = seededRandom(seed)
  return {
    next,
    pick(items) {
      const item = items[Math.floor(next() * items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
  }
}
const later = ({ next }: Random) => 1_000 * Math.floor(next() ** 3 * 3 * 24 * 3_600)

function createStory() {
  const seen: ObservedChange[] = []
  const add = (at: number, entity: SlaFacts, rest: Omit<ObservedChange, keyof Change>) => {
    const version = seen.length + 1
    seen.push({ eventId: `evt_${version}`, version, at: iso(at), entity, ...rest })
  }
  return { seen, add }
}

const commentStep = (userId: string, visibility: IncidentComment['visibility']): IncidentStep => ({
  kind: 'comment',
  comment: { ...comment, visibility, author: { ...agent, id: userId }, userId },
})

/** A random history of an incident with a caller and a conversation. */
export function conversation(random: Random, openedAt: number, pauses: SlaPolicyState): ObservedChange[] {
  const { seen, add } = createStory()
  let state: IncidentState | null = null
  const take = (decisions: Decision<IncidentState>[], at: number, said: 'caller' | 'agent' | null) => {
    for (const { type, after, extras } of decisions) {
      if (!after) continue
      const turned = state !== null && state.status !== after.status ? after.status : null
      const words = extras?.comment === undefined ? null : said
      const over = turned === 'resolved' || turned === 'closed'
      add(at, incidentEntity.facts(after, { type, comment: extras?.comment }), {
        asked: words === 'caller',
        ended: turned === 'canceled' ? 'off' : over || words === 'agent' ? 'done' : null,
        held:
          (after.holdReason !== null && pauses.pauseReasons.includes(after.holdReason)) ||
          pauses.pauseStatuses.includes(after.status),
        key: after.severity,
      })
      state = after
    }
  }
  const input = { ...create.input, callerId: 'usr_caller' }
  take(incident.decide({ ...create, now: iso(openedAt), input }, null), openedAt, null)
  let at = openedAt
  for (let step = 0; step < 24; step++) {
    at += later(random)
    const now: IncidentState | null = state as IncidentState | null
    if (now === null || now.status === 'closed' || now.status === 'canceled') break
    const more: IncidentStep[] = {
      open: [{ kind: 'start' } as const],
      in_progress: [{ kind: 'hold', holdReason: 'awaiting_vendor' } as const],
      on_hold: [{ kind: 'resume' } as const],
      resolved: [{ kind: 'close' } as const, { kind: 'reopen' } as const],
    }[now.status]
    const severity = random.pick(['critical', 'high', 'medium', 'low'] as const)
    if (now.status !== 'resolved')
      more.push({ kind: 'edit', fields: { severity } }, { kind: 'hold', holdReason: 'awaiting_caller' })
    if (now.status === 'in_progress') more.push({ kind: 'resolve' })
    if (now.status !== 'resolved' && random.next() < 0.1) more.push({ kind: 'cancel' })
    const who = random.pick([null, null, 'caller', 'caller', 'agent'] as const)
    const visibility = random.next() < 0.2 ? ('internal' as const) : ('public' as const)
    const heldAlready = now.status === 'on_hold' ? more.filter(({ kind }) => kind !== 'hold') : more
    const taken = who === null ? random.pick(heldAlready) : commentStep(`usr_${who}`, visibility)
    const said = visibility === 'public' ? who : null
    take(incident.decide({ ...taken, now: iso(at) }, now), at, said)
  }
  return seen
}

/** A random history of a change that is submitted, decided on, put on hold and edited. */
export function decisions(random: Random, openedAt: number): ObservedChange[] {
  const { seen, add } = createStory()
  let [state, ids]: [ChangeRecord | null, number] = [null, 0]
  const take = (command: ChangeCommand, at: number) => {
    for (const { after } of change.decide(command, state)) {
      if (!after) continue
      const waits = ({ status }: ChangeRecord) => status === 'assess' || status === 'authorize'
      const over = command.kind === 'edit' || command.kind === 'cancel' ? 'off' : 'done'
      add(at, changeEntity.facts(after), {
        asked: waits(after),
        ended: state && waits(state) && !waits(after) ? over : null,
        held: after.onHold,
        key: 'all',
      })
      state = after
    }
  }
  take({ ...createCommand(random.pick(['normal', 'emergency'])), now: iso(openedAt) }, openedAt)
  let at = openedAt
  for (let step = 0; step < 16; step++) {
    at += later(random)
    const now: ChangeRecord | null = state as ChangeRecord | null
    if (now === null || (now.status === 'scheduled' && random.next() < 0.5)) break
    const wanted = ['submit', 'submit', 'approve', 'reject', 'hold', 'resume', 'edit', 'cancel'] as const
    const frequent = wanted.filter((action) => action !== 'cancel' || random.next() < 0.1)
    const allowed: readonly ChangeAction[] = allowedActions(now)
    const possible = frequent.filter(
      (action) => allowed.includes(action) && !(now.onHold && action === 'edit'),
    )
    if (possible.length === 0) break
    const approvalIds = Array.from({ length: 5 }, () => `apr_${String(ids++).padStart(26, '0')}`)
    const by = now.status === 'assess' ? technicalApprover : approver
    const action = random.pick(possible)
    const fields = { by: person(by), userId: by, approvalIds, now: iso(at) }
    if (action === 'approve' || action === 'reject') take({ ...changeSteps[action], ...fields }, at)
    else if (action === 'edit')
      take({ ...changeSteps.edit, patch: { backoutPlan: `Move back ${step}.` }, now: iso(at) }, at)
    else if (action === 'submit') take({ ...changeSteps.submit, approvalIds, now: iso(at) }, at)
    else take({ ...changeSteps[action], now: iso(at) }, at)
  }
  return seen
}
