import {
  alreadyExists,
  assertNever,
  type ConnectorPatch,
  type ConnectorState,
  type ConnectorStatus,
  changedFields,
  type Decider,
  type Decision,
  type Instant,
  missingPermissionError,
  type NewConnector,
  notFound,
} from '@opsplane/contracts'
import { findReferences } from '../kind/references.js'

/** `epoch` counts configurations: health observed for an earlier one does not apply to the current one. */
export type StoredConnector = ConnectorState & { epoch: number }

/** The person who changes a connector. */
export interface Caller {
  userId: string
  permissions: readonly string[]
}

export type ConnectorCommand =
  | { kind: 'create'; id: string; fields: NewConnector; caller: Caller; now: Instant }
  | { kind: 'update'; patch: ConnectorPatch; caller: Caller; now: Instant }
  | { kind: 'report'; epoch: number; status: 'up' | 'down'; error: string | null; now: Instant }
  | { kind: 'delete' }

export const connector: Decider<StoredConnector, ConnectorCommand, ConnectorState> = {
  resourceType: 'connector',
  table: 'connectors',
  decide,
  expose: ({ epoch: _, ...visible }) => visible,
  describe: ({ name }) => ({ displayName: name }),
}

function decide(command: ConnectorCommand, state: StoredConnector | null): Decision<StoredConnector>[] {
  if (command.kind === 'create') return [{ type: 'connector.created', after: created(command, state) }]
  if (command.kind === 'report') return reported(command, state)
  if (state === null) throw notFound()
  switch (command.kind) {
    case 'update':
      return updated(command, state)
    case 'delete':
      return [{ type: 'connector.deleted', after: null }]
    default:
      return assertNever(command)
  }
}

function created(
  { id, fields, caller, now }: Extract<ConnectorCommand, { kind: 'create' }>,
  existing: StoredConnector | null,
): StoredConnector {
  if (existing !== null) throw alreadyExists('connector')
  requireSecretsUse(caller, fields.config)
  return {
    id,
    ...fields,
    ownerId: caller.userId,
    ...unseen,
    epoch: 0,
    statusChangedAt: null,
    createdAt: now,
    updatedAt: now,
  }
}

const unseen = { status: 'unknown', lastError: null } satisfies Partial<StoredConnector>

/**
 * A new configuration, or enabling the connector again, requires the right to use its secrets and resets its health
 * to unknown.
 */
function updated(
  { patch, caller, now }: Extract<ConnectorCommand, { kind: 'update' }>,
  state: StoredConnector,
): Decision<StoredConnector>[] {
  const definedFields = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
  const after: StoredConnector = { ...state, ...definedFields }
  const starts = after.enabled && !state.enabled
  const reconfigured = changedFields({ config: state.config }, { config: after.config }).length > 0
  if (starts || patch.config !== undefined) {
    requireSecretsUse(caller, after.config)
    after.ownerId = caller.userId
  }
  if (starts || reconfigured) {
    Object.assign(after, unseen, { epoch: state.epoch + 1 })
    if (state.status !== 'unknown') after.statusChangedAt = now
  }
  if (changedFields(state, after).length === 0) return []
  return [{ type: 'connector.updated', after: { ...after, updatedAt: now } }]
}

/**
 * Emits an event once per change of health. Ignores reports for another configuration, and for a deleted or disabled
 * connector.
 */
function reported(
  { epoch, status, error, now }: Extract<ConnectorCommand, { kind: 'report' }>,
  state: StoredConnector | null,
): Decision<StoredConnector>[] {
  if (state === null || state.epoch !== epoch || state.status === status || !state.enabled) return []
  const previousStatus: ConnectorStatus = state.status
  const after = { ...state, status, lastError: error, statusChangedAt: now, updatedAt: now }
  return [{ type: 'connector.status_changed', after, extras: { previousStatus } }]
}

/** Throws `forbidden` if the caller may not use the secrets that the configuration refers to. */
function requireSecretsUse({ permissions }: Caller, config: unknown): void {
  if (permissions.includes('secrets:use') || findReferences(config).length === 0) return
  const message = 'Missing permission: secrets:use (the configuration refers to secrets).'
  throw missingPermissionError(message, ['secrets:use'], '/config')
}
