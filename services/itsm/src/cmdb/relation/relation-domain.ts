import {
  type Actor,
  alreadyExists,
  type CiRelation,
  type CmdbEventType,
  type Decider,
  type Decision,
  type Instant,
  type NewCiRelation,
  notFound,
} from '@opsplane/contracts'

export type CiRelationCommand =
  | { kind: 'add'; id: string; by: Actor; now: Instant; input: NewCiRelation }
  | { kind: 'remove' }

/** A relation is added and removed, never changed. The existence of its items is checked when it is added. */
export const ciRelation: Decider<CiRelation, CiRelationCommand> = {
  resourceType: 'ci_relation',
  table: 'ci_relations',
  decide,
  expose: (state) => state,
  describe: ({ sourceId, type, targetId }) => ({ displayName: `${sourceId} ${type} ${targetId}` }),
}

function decide(command: CiRelationCommand, state: CiRelation | null): Decision<CiRelation, CmdbEventType>[] {
  if (command.kind === 'add') {
    if (state !== null) throw alreadyExists('relation')
    const { id, by, now, input } = command
    return [{ type: 'ci.relation_added', after: { id, ...input, createdBy: by, createdAt: now } }]
  }
  if (state === null) throw notFound()
  return [{ type: 'ci.relation_removed', after: null }]
}
