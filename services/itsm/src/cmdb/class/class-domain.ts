import {
  alreadyExists,
  type CiClassPatch,
  type CiClassState,
  type CmdbEventType,
  changedFields,
  type Decider,
  type Decision,
  type Instant,
  type NewCiClass,
  notFound,
} from '@opsplane/contracts'
import { checkClassSchema } from './class-schema.js'

export type CiClassCommand =
  | { kind: 'create'; id: string; now: Instant; input: NewCiClass }
  | { kind: 'patch'; now: Instant; patch: CiClassPatch }

/** All rules of a class. Its name never changes, because items refer to it. */
export const ciClass: Decider<CiClassState, CiClassCommand> = {
  resourceType: 'ci_class',
  table: 'ci_classes',
  decide,
  expose: (state) => state,
  describe: ({ label }) => ({ displayName: label }),
}

function decide(
  command: CiClassCommand,
  state: CiClassState | null,
): Decision<CiClassState, CmdbEventType>[] {
  if (command.kind === 'create') {
    if (state !== null) throw alreadyExists('class')
    const { id, now, input } = command
    checkClassSchema(input.schema)
    return [{ type: 'ci.class_created', after: { id, ...input, createdAt: now, updatedAt: now } }]
  }
  if (state === null) throw notFound()
  const { label = state.label, schema = state.schema } = command.patch
  if (command.patch.schema !== undefined) checkClassSchema(schema)
  const after = { ...state, label, schema }
  if (changedFields(state, after).length === 0) return []
  return [{ type: 'ci.class_updated', after: { ...after, updatedAt: command.now } }]
}
