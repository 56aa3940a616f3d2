import {
  type AcceptConflicts,
  type Change,
  type ChangePatch,
  maxApprovalRules,
  type NewChange,
  newId,
  notFound,
  type TenantScope,
} from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { findClash, findClashNow, findConflicts } from '../change-window/conflict-context.js'
import { checkProblemLink } from '../links/problem-link.js'
import { findReferencedId } from '../lists/referenced-id.js'
import type { People } from '../people.js'
import { changes } from '../schema/change.js'
import type { SettingsStore } from '../settings/settings-store.js'
import { type ChangeRecord, exposeChange } from './approval/separation-of-duties.js'
import type { ChangeStep } from './commands.js'
import { change } from './domain.js'
import { affectsConflicts } from './editing.js'
import { readTouchedItems } from './items.js'
import { applyPatch } from './patch.js'
import { readActiveChangePolicies } from './queries.js'
import type { TemplateAgreement } from './template/from-template.js'
import { changeTemplate } from './template/template.js'
import { allowedActions } from './transitions.js'

/** Changes in their API representation, and the commands that need more data than the change itself. */
export function changeStore(
  { store, database: { db, sql } }: ServiceContext,
  { settings, people }: { settings: SettingsStore; people: People },
) {
  const aggregate = store.aggregate(change, { present })
  const templates = store.aggregate(changeTemplate)

  /** Reads the agreement for a standard change. If the template is edited concurrently, either version may be used. */
  const agreedOn = async (
    { type, templateId }: Pick<Change, 'type' | 'templateId'>,
    classes: TemplateAgreement['classes'],
    tenant: TenantScope,
  ): Promise<TemplateAgreement | undefined> => {
    if (type !== 'standard') return undefined
    const template = templateId === null ? null : await templates.find(templateId, tenant)
    return { template: template?.state ?? null, classes }
  }

  /** Decides using data read for the current state of the change; both are repeated after a lost race. */
  const handleReading = (
    id: string,
    meta: RequestMeta,
    step: (state: ChangeRecord, unit: Unit) => Promise<ChangeStep>,
  ): Promise<Change> =>
    store.transact(
      meta,
      async (unit) => {
        const current = await unit.find(aggregate, id)
        if (current === null) throw notFound()
        return unit.handle(
          aggregate,
          id,
          { ...(await step(current.state, unit)), now: meta.now },
          { current },
        )
      },
      { queueKey: id },
    )

  return {
    ...aggregate,
    async draft(input: NewChange, meta: RequestMeta): Promise<Change> {
      const id = newId('change')
      await people.check(meta.tenant, { assigneeId: input.assigneeId })
      return store.transact(meta, async (unit) => {
        await checkProblemLink(db, meta.tenant, input.problemId)
        const { facts, classes } = await readTouchedItems(db, meta.tenant, { id, ciIds: input.ciIds }, unit)
        const agreed = await agreedOn(input, classes, meta.tenant)
        const number = `CHG-${await store.numbers.next(meta.tenant.workspaceId, 'change')}`
        const { actor: by, now } = meta
        const command = { id, number, by, userId: meta.principal.userId, now, input, facts, agreed }
        return unit.create(aggregate, id, { kind: 'create', ...command })
      })
    },
    edit: (id: string, patch: ChangePatch, meta: RequestMeta): Promise<Change> =>
      handleReading(id, meta, async (state, unit) => {
        await people.check(meta.tenant, { assigneeId: patch.assigneeId }, { assigneeId: state.assigneeId })
        await checkProblemLink(db, meta.tenant, patch.problemId)
        const touching = { id, ciIds: patch.ciIds ?? state.ciIds, before: state.ciIds }
        const { facts, classes } = await readTouchedItems(db, meta.tenant, touching, unit)
        const agreed = await agreedOn(applyPatch(state, patch), classes, meta.tenant)
        const edit = { kind: 'edit', userId: meta.principal.userId, patch, facts, agreed } as const
        if (!affectsConflicts(patch, state)) return edit
        return { ...edit, conflicts: await findConflicts(sql, meta.tenant, applyPatch(state, patch)) }
      }),
    submit: (id: string, acceptance: AcceptConflicts, meta: RequestMeta): Promise<Change> =>
      handleReading(id, meta, async (state, unit) => {
        const { facts, classes } = await readTouchedItems(db, meta.tenant, { id, ciIds: state.ciIds }, unit)
        return {
          kind: 'submit',
          userId: meta.principal.userId,
          facts,
          agreed: await agreedOn(state, classes, meta.tenant),
          policies: await readActiveChangePolicies(db, meta.tenant),
          approvalIds: newApprovalIds(),
          separationOfDuties: (await settings.current(meta.tenant)).separationOfDuties,
          clash: await findClash(sql, meta.tenant, state, acceptance),
        }
      }),
    implement: (id: string, acceptance: AcceptConflicts, meta: RequestMeta): Promise<Change> =>
      handleReading(id, meta, async (state) => ({
        kind: 'implement',
        userId: meta.principal.userId,
        clash: await findClashNow(sql, meta.tenant, state, acceptance, meta.now),
      })),
    /** Resolves an id or a number such as `CHG-12`. Anything else is treated as an id that does not exist. */
    findId: (reference: string, tenant: TenantScope): Promise<string> =>
      findReferencedId(db, { table: changes, prefix: 'CHG' }, reference, tenant),
  }
}
export type ChangeStore = ReturnType<typeof changeStore>

/** Enough ids for any stage. */
export const newApprovalIds = () => Array.from({ length: maxApprovalRules }, () => newId('approval'))

function present(state: ChangeRecord, version: number): Change {
  return { ...exposeChange(state), version, allowedActions: allowedActions(state) }
}
