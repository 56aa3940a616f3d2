import {
  alreadyExists,
  assertNever,
  changedFields,
  type Decider,
  type Instant,
  notFound,
  type ResourceFields,
  type TableState,
} from '@opsplane/contracts'

export type TableCommand =
  | { kind: 'create'; id: string; fields: Omit<ResourceFields<TableState>, 'purgeAt'>; now: Instant }
  | { kind: 'change'; to: Partial<Omit<ResourceFields<TableState>, 'purgeAt'>>; now: Instant }
  | { kind: 'delete'; purgeAt: Instant; now: Instant }
  | { kind: 'restore'; now: Instant }
  | { kind: 'purge' }

/** A table is either in use, or in the trash until it is purged. */
export const table: Decider<TableState, TableCommand> = {
  resourceType: 'table',
  table: 'tables',
  expose: (state) => state,
  describe: ({ name }) => ({ displayName: name }),
  decide(command, state) {
    if (command.kind === 'create') {
      if (state !== null) throw alreadyExists('table')
      const { id, fields, now } = command
      const after = { id, ...fields, purgeAt: null, createdAt: now, updatedAt: now }
      return [{ type: 'table.created', after }]
    }
    if (
      state === null ||
      (state.purgeAt === null) === (command.kind === 'restore' || command.kind === 'purge')
    )
      throw notFound()
    switch (command.kind) {
      case 'change': {
        const after = { ...state, ...command.to }
        if (changedFields(state, after).length === 0) return []
        return [{ type: 'table.updated', after: { ...after, updatedAt: command.now } }]
      }
      case 'delete':
        return [
          { type: 'table.deleted', after: { ...state, purgeAt: command.purgeAt, updatedAt: command.now } },
        ]
      case 'restore':
        return [{ type: 'table.restored', after: { ...state, purgeAt: null, updatedAt: command.now } }]
      case 'purge':
        return [{ type: 'table.purged', after: null }]
      default:
        return assertNever(command)
    }
  },
}
