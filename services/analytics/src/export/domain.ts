import {
  alreadyExists,
  type Decider,
  type ExportFile,
  type ExportState,
  type Instant,
  invalidTransition,
  notFound,
} from '@opsplane/contracts'

export type ExportCommand =
  | {
      kind: 'create'
      id: string
      fields: Pick<
        ExportState,
        'name' | 'format' | 'escapeFormulas' | 'delimiter' | 'bom' | 'source' | 'ownerId'
      >
      now: Instant
    }
  | { kind: 'complete'; file: ExportFile; expiresAt: Instant; now: Instant }
  | { kind: 'fail'; error: NonNullable<ExportState['error']>; now: Instant }
  | { kind: 'cancel'; now: Instant }
  | { kind: 'expire'; now: Instant }
  | { kind: 'delete' }

/** Whether the export has ended: a later result is ignored. */
const isOver = ({ status }: ExportState) => status !== 'pending'

/**
 * An export is produced once: it completes with a file, fails or is cancelled. The file expires after its retention
 * period.
 */
export const dataExport: Decider<ExportState, ExportCommand> = {
  resourceType: 'export',
  table: 'exports',
  decide(command, state) {
    if (command.kind === 'create') {
      if (state !== null) throw alreadyExists('export')
      const { id, fields, now } = command
      const none = { status: 'pending', file: null, error: null, endedAt: null, expiresAt: null } as const
      return [{ type: 'export.created', after: { id, ...fields, ...none, createdAt: now, updatedAt: now } }]
    }
    if (state === null) throw notFound()
    if (command.kind === 'delete') return [{ type: 'export.deleted', after: null }]
    const { now } = command
    const changed = (type: string, change: Partial<ExportState>) => [
      { type, after: { ...state, ...change, updatedAt: now } },
    ]
    switch (command.kind) {
      case 'complete': {
        const { file, expiresAt } = command
        if (isOver(state)) return []
        return changed('export.completed', { status: 'completed', file, endedAt: now, expiresAt })
      }
      case 'fail':
        if (isOver(state)) return []
        return changed('export.failed', { status: 'failed', error: command.error, endedAt: now })
      case 'cancel':
        if (isOver(state)) throw invalidTransition('cancel', state.status, [])
        return changed('export.cancelled', { status: 'cancelled', endedAt: now })
      case 'expire':
        return state.status === 'completed' ? changed('export.expired', { status: 'expired' }) : []
    }
  },
  expose: (state) => state,
  describe: ({ name }) => ({ displayName: name }),
}
