import {
  assertNever,
  changedFields,
  type Decider,
  type Decision,
  type Instant,
  invalidTransition,
  type MigrationState,
  type MigrationStatus,
} from '@opsplane/contracts'

export type MigrationFields = Pick<
  MigrationState,
  'number' | 'name' | 'up' | 'down' | 'checksum' | 'transactional' | 'origin' | 'definition' | 'previous'
>

export type MigrationWording = Pick<MigrationState, 'name' | 'up' | 'down' | 'transactional' | 'checksum'>

export type MigrationCommand =
  /** `applied`: a change of a table definition has already made this change. */
  | { kind: 'create'; id: string; fields: MigrationFields; applied: boolean; now: Instant }
  /** `number`: its position in the order from now on. */
  | { kind: 'apply'; number: number; now: Instant }
  | { kind: 'roll_back'; now: Instant }
  | { kind: 'edit'; to: MigrationWording; now: Instant }
  | { kind: 'place'; number: number; now: Instant }
  | { kind: 'fail'; error: string; now: Instant }
  | { kind: 'delete' }

const from: Record<Exclude<MigrationCommand['kind'], 'create'>, readonly MigrationStatus[]> = {
  apply: ['pending', 'failed', 'rolled_back'],
  roll_back: ['applied'],
  fail: ['pending', 'failed', 'rolled_back', 'applied'],
  edit: ['pending', 'failed', 'rolled_back'],
  place: ['pending', 'failed', 'rolled_back'],
  delete: ['pending', 'failed', 'rolled_back'],
}

/** Throws `invalid_state_transition` if the action is not allowed in the migration's status. */
export function checkAction(action: keyof typeof from, { status }: Pick<MigrationState, 'status'>): void {
  if (from[action].includes(status)) return
  const allowed = (['apply', 'roll_back', 'edit', 'delete'] as const).filter((each) =>
    from[each].includes(status),
  )
  throw invalidTransition(action, status, allowed)
}

export const migration: Decider<MigrationState, MigrationCommand> = {
  resourceType: 'migration',
  table: 'migrations',
  decide(command, state): Decision<MigrationState>[] {
    if (command.kind === 'create') return [created(command)]
    if (state === null) throw new Error('a migration that is not there')
    checkAction(command.kind, state)
    switch (command.kind) {
      case 'apply': {
        const applied = {
          number: command.number,
          status: 'applied',
          appliedAt: command.now,
          error: null,
          updatedAt: command.now,
        } as const
        return [{ type: 'migration.applied', after: { ...state, ...applied } }]
      }
      case 'roll_back': {
        const back = { status: 'rolled_back', appliedAt: null, error: null, updatedAt: command.now } as const
        return [{ type: 'migration.rolled_back', after: { ...state, ...back } }]
      }
      case 'edit':
        return edited(state, command)
      case 'place': {
        const after = { ...state, number: command.number, updatedAt: command.now }
        return state.number === command.number ? [] : [{ type: 'migration.updated', after }]
      }
      case 'fail': {
        // A migration whose rollback failed is still applied.
        const status = state.status === 'applied' ? 'applied' : 'failed'
        const after = { ...state, status, error: command.error, updatedAt: command.now } as const
        return [{ type: 'migration.failed', after }]
      }
      case 'delete':
        return [{ type: 'migration.deleted', after: null }]
      default:
        return assertNever(command)
    }
  },
  expose: (state) => state,
  describe: ({ name }) => ({ displayName: name }),
}

/**
 * Resets the migration to its initial status. If the SQL changes, it also loses the link to the definition or migration
 * it was recorded or promoted from.
 */
function edited(
  state: MigrationState,
  { to, now }: Extract<MigrationCommand, { kind: 'edit' }>,
): Decision<MigrationState>[] {
  const after = { ...state, ...to }
  if (changedFields(state, after).length === 0) return []
  const isOther = after.checksum !== state.checksum
  const own = isOther ? ({ origin: 'sql', definition: null, previous: null } as const) : {}
  const statusFields = { status: 'pending', error: null, updatedAt: now } as const
  return [{ type: 'migration.updated', after: { ...after, ...own, ...statusFields } }]
}

function created({
  id,
  fields,
  applied,
  now,
}: Extract<MigrationCommand, { kind: 'create' }>): Decision<MigrationState> {
  const statusFields = applied
    ? { status: 'applied' as const, appliedAt: now }
    : { status: 'pending' as const, appliedAt: null }
  const after = { id, ...fields, ...statusFields, error: null, createdAt: now, updatedAt: now }
  return { type: applied ? 'migration.applied' : 'migration.created', after }
}
