import { changedFields, type Decider, type Instant } from './decider.js'
import { alreadyExists, notFound } from './errors.js'

/** The fields every resource has in addition to its own. */
interface ResourceState {
  id: string
  createdAt: Instant
  updatedAt: Instant
}

export type ResourceFields<State extends ResourceState> = Omit<State, keyof ResourceState>

export type ResourceCommand<State extends ResourceState> =
  | { kind: 'create'; id: string; fields: ResourceFields<State>; now: Instant }
  | {
      kind: 'update'
      patch: { [Name in keyof ResourceFields<State>]?: State[Name] | undefined }
      now: Instant
    }
  | { kind: 'delete' }

/**
 * Decider of a resource without a lifecycle: created once, updated field by field, and deleted. Its events are
 * `<resourceType>.created`, `.updated` and `.deleted`; an update that changes nothing produces no event. Throws
 * `conflict` if the id exists already, `not_found` if it does not exist.
 */
export function resourceDecider<State extends ResourceState>(options: {
  resourceType: string
  table: string
  displayName(state: State): string
}): Decider<State, ResourceCommand<State>> {
  const { resourceType, table, displayName } = options
  return {
    resourceType,
    table,
    decide(command, state) {
      if (command.kind === 'create') {
        if (state !== null) throw alreadyExists(resourceType.replaceAll('_', ' '))
        const { id, fields, now } = command
        // A state consists of its own fields and those of every resource: the compiler
        // cannot infer that for a generic type.
        const after = { id, ...fields, createdAt: now, updatedAt: now } as State
        return [{ type: `${resourceType}.created`, after }]
      }
      if (state === null) throw notFound()
      if (command.kind === 'delete') return [{ type: `${resourceType}.deleted`, after: null }]
      const changes = Object.entries(command.patch).filter(([, value]) => value !== undefined)
      const after = { ...state, ...Object.fromEntries(changes) }
      if (changedFields(state, after).length === 0) return []
      return [{ type: `${resourceType}.updated`, after: { ...after, updatedAt: command.now } }]
    },
    expose: (state) => state,
    describe: (state) => ({ displayName: displayName(state) }),
  }
}
