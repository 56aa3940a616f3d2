import {
  type AppPatch,
  type AppState,
  alreadyExists,
  assertNever,
  changedFields,
  type Decider,
  type Instant,
  invalidTransition,
  type NewApp,
  notFound,
} from '@opsplane/contracts'

export type AppCommand =
  | { kind: 'create'; id: string; fields: NewApp; now: Instant }
  | { kind: 'update'; patch: AppPatch; now: Instant }
  | { kind: 'archive'; now: Instant }

/** Archiving an app is final. */
export const app: Decider<AppState, AppCommand> = {
  resourceType: 'app',
  table: 'apps',
  decide(command, state) {
    if (command.kind === 'create') {
      if (state !== null) throw alreadyExists('app')
      const { id, fields, now } = command
      const after: AppState = { id, ...fields, status: 'active', createdAt: now, updatedAt: now }
      return [{ type: 'app.created', after }]
    }
    if (state === null) throw notFound()
    if (state.status === 'archived') throw invalidTransition(command.kind, 'archived', [])
    switch (command.kind) {
      case 'update': {
        const { slug = state.slug, name = state.name, description = state.description } = command.patch
        const { access = state.access ?? null } = command.patch
        const after = { ...state, slug, name, description, access }
        if (changedFields(state, after).length === 0) return []
        return [{ type: 'app.updated', after: { ...after, updatedAt: command.now } }]
      }
      case 'archive':
        return [{ type: 'app.archived', after: { ...state, status: 'archived', updatedAt: command.now } }]
      default:
        return assertNever(command)
    }
  },
  // Apps stored before access lists existed are open to everyone with `apps:use`.
  expose: (state) => ({ ...state, access: state.access ?? null }),
  describe: ({ name }) => ({ displayName: name }),
}
