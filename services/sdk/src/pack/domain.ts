import {
  ApiError,
  assertNever,
  type Decider,
  type Decision,
  type Instant,
  type NeededRights,
  notFound,
  type PackState,
  type ReadModelRow,
} from '@opsplane/contracts'

/** A pack with its internal fields. */
export interface PackRecord extends PackState {
  /** The latest installation, and the number of installations. */
  installation: string
  installations: number
  /** Rights its owner must keep. */
  needs: NeededRights
}

/** Fields that an installation determines for its pack. */
export type Installed = Omit<
  PackRecord,
  'id' | 'name' | 'status' | 'suspendedFor' | 'installations' | 'createdAt' | 'updatedAt'
>

interface Installation {
  now: Instant
  fields: Installed
  /** One more than the number of installations when this one began. */
  number: number
  row: ReadModelRow
}

export type PackCommand =
  | ({ kind: 'install'; id: string; name: string } & Installation)
  | ({ kind: 'change'; change: 'upgrade' | 'downgrade' | 'reinstall' } & Installation)
  | { kind: 'uninstall'; now: Instant }
  /** A platform decision: the owner no longer has the rights the pack needs. */
  | { kind: 'suspend'; now: Instant; ownerId: string; missing: readonly string[] }

type Decided = Decision<PackRecord>[]

/** All rules of a pack. An uninstalled pack keeps its id in case it is installed again. */
export const pack: Decider<PackRecord, PackCommand, PackState> = {
  resourceType: 'pack',
  table: 'packs',
  decide,
  expose: ({ installation: _, installations: _1, needs: _2, ...shown }) => shown,
  describe: ({ name }) => ({ displayName: name }),
}

function decide(command: PackCommand, state: PackRecord | null): Decided {
  if (command.kind === 'install') return installed(command, state)
  if (state === null || state.status === 'uninstalled') throw notFound()
  switch (command.kind) {
    case 'change': {
      const { change, row } = command
      const extras = { from: state.packVersion, change }
      return [
        {
          type: 'pack.upgraded',
          after: { ...state, ...installation(command, state) },
          extras,
          extraRows: [row],
        },
      ]
    }
    case 'uninstall':
      return [{ type: 'pack.uninstalled', after: { ...state, ...uninstalledFields(command.now) } }]
    case 'suspend':
      if (state.status !== 'active' || state.ownerId !== command.ownerId) return []
      return [{ type: 'pack.suspended', after: { ...state, ...suspended(command) } }]
    default:
      return assertNever(command)
  }
}

function installed(command: Extract<PackCommand, { kind: 'install' }>, state: PackRecord | null): Decided {
  if (state !== null && state.status !== 'uninstalled') throw raced()
  const { id, name, now, row } = command
  const after = { id, name, createdAt: state?.createdAt ?? now, ...installation(command, state) }
  return [{ type: 'pack.installed', after, extraRows: [row] }]
}

function installation({ fields, number, now }: Installation, state: PackRecord | null) {
  if (number !== (state?.installations ?? 0) + 1) throw raced()
  return { ...fields, installations: number, status: 'active' as const, suspendedFor: [], updatedAt: now }
}

const raced = () =>
  new ApiError('version_conflict', 'The pack was changed while it was installed. Try again.')

const uninstalledFields = (now: Instant) => ({
  status: 'uninstalled' as const,
  artifacts: [],
  suspendedFor: [],
  updatedAt: now,
})

const suspended = ({ now, missing }: { now: Instant; missing: readonly string[] }) => ({
  status: 'suspended' as const,
  suspendedFor: [...missing],
  updatedAt: now,
})
