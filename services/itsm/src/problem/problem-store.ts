import {
  type CommandMeta,
  invalidField,
  type NewProblem,
  newId,
  notFound,
  type Problem,
  type ProblemPatch,
  type ProblemState,
  type TenantScope,
} from '@opsplane/contracts'
import { lockTenant, type SerializerContext, serializer, type Unit } from '@opsplane/eventstore'
import { findReferencedId } from '../lists/referenced-id.js'
import type { People } from '../people.js'
import { problems } from '../schema/problem.js'
import type { SettingsStore } from '../settings/settings-store.js'
import type { CreateProblem, ProblemStep } from './commands.js'
import { problem } from './domain.js'
import { checkReferences } from './references.js'
import { allowedActions } from './transitions.js'

/** Problems in their API representation, and the commands that need more data than the problem itself. */
export function problemStore(
  ctx: SerializerContext,
  { settings, people }: { settings: SettingsStore; people: People },
) {
  const {
    store,
    database: { db },
  } = ctx
  const aggregate = store.aggregate(problem, { present })
  // Serializes the closing of duplicates within a tenant, so that duplicates never form a cycle of any length.
  const inTurn = serializer(ctx, lockTenant('duplicates'))

  const findId = (reference: string, tenant: TenantScope): Promise<string> =>
    findReferencedId(db, { table: problems, prefix: 'PRB' }, reference, tenant)

  /** Throws validation_failed if the problem does not exist or is itself a duplicate. */
  async function checkOriginal(unit: Unit, id: string): Promise<void> {
    const original = await unit.find(aggregate, id)
    if (!original) throw invalidField('/duplicateOf', 'unknown_problem', 'There is no such problem.')
    if (original.state.resolution === 'duplicate')
      throw invalidField('/duplicateOf', 'duplicate', 'That problem is a duplicate too; follow it on.')
  }

  /** Builds the command that creates a problem within a unit. */
  async function prepare(input: NewProblem, meta: CommandMeta): Promise<CreateProblem> {
    const { workspaceId } = meta.tenant
    const number = `PRB-${await store.numbers.next(workspaceId, 'problem')}`
    const { priorityMatrix: matrix } = await settings.current(meta.tenant)
    return { kind: 'create', id: newId('problem'), number, by: meta.actor, now: meta.now, input, matrix }
  }

  return {
    ...aggregate,
    /** Resolves an id or a number such as `PRB-12`. Anything else is treated as an id that does not exist. */
    findId,
    prepare,
    record: (input: NewProblem, meta: CommandMeta): Promise<Problem> =>
      store.transact(meta, async (unit) => {
        await people.check(meta.tenant, { assigneeId: input.assigneeId })
        await checkReferences(db, meta.tenant, input, unit)
        const command = await prepare(input, meta)
        return unit.create(aggregate, command.id, command)
      }),
    async change(id: string, patch: ProblemPatch, meta: CommandMeta): Promise<Problem> {
      const { priorityMatrix: matrix } = await settings.current(meta.tenant)
      const edit = async (unit: Unit) => {
        if (patch.assigneeId)
          await people.check(
            meta.tenant,
            { assigneeId: patch.assigneeId },
            { assigneeId: (await unit.find(aggregate, id))?.state.assigneeId },
          )
        if (patch.ciIds !== undefined || patch.changeIds !== undefined) {
          const current = await unit.find(aggregate, id)
          if (!current) throw notFound()
          await checkReferences(db, meta.tenant, patch, unit, current.state)
        }
        return unit.handle(aggregate, id, { kind: 'edit', patch, matrix, now: meta.now })
      }
      return store.transact(meta, edit, { queueKey: id })
    },
    /** Resolves or closes a problem. `duplicateOf` may be a number such as `PRB-12`. */
    async end(id: string, step: ProblemStep & { kind: 'resolve' | 'close' }, meta: CommandMeta) {
      const duplicateOf = step.duplicateOf && (await findId(step.duplicateOf, meta.tenant))
      const command = { ...step, duplicateOf, now: meta.now }
      if (duplicateOf === undefined) return aggregate.handle(id, command, meta)
      return inTurn(meta, async (unit) => {
        await checkOriginal(unit, duplicateOf)
        return unit.handle(aggregate, id, command)
      })
    },
  }
}
export type ProblemStore = ReturnType<typeof problemStore>

function present(state: ProblemState, version: number): Problem {
  return { ...state, version, allowedActions: allowedActions(state.status) }
}
