import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { Actor } from '../core/principal.js'

/**
 * All relation types, read "source … target", and how a failure propagates between the ends: `to_source` means the
 * source fails with its target, `to_target` the reverse.
 */
export const relationImpact = {
  depends_on: 'to_source',
  runs_on: 'to_source',
  hosted_on: 'to_source',
  consumes_api: 'to_source',
  contains: 'to_target',
  member_of: 'to_target',
  provides: 'to_target',
  connects_to: 'none',
  manages: 'none',
  owned_by: 'none',
} as const satisfies Record<string, 'to_source' | 'to_target' | 'none'>
export type RelationType = keyof typeof relationImpact

export const relationTypes = Object.keys(relationImpact) as [RelationType, ...RelationType[]]

/** Relation types along which a failure propagates. */
export const impactTypes = relationTypes.filter((type) => relationImpact[type] !== 'none')

export const RelationType = z.enum(relationTypes).meta({
  id: 'RelationType',
  description:
    'Read as "source … target". With `depends_on`, `runs_on`, `hosted_on` and `consumes_api`, a failure of the ' +
    'target makes the source fail. With `contains`, `member_of` and `provides`, a failure of the source makes ' +
    'the target fail. Other types do not propagate failures.',
})

/** How many of its dependencies of one type an item needs. */
export const Redundancy = z
  .union(
    [
      z.strictObject({ minUp: z.int().min(1).max(10_000) }),
      z.strictObject({ minUpPercent: z.number().gt(0).max(100) }),
    ],
    'must be either {"minUp": 1} or {"minUpPercent": 50}',
  )
  .meta({ id: 'Redundancy', example: { minUp: 1 } })
export type Redundancy = z.infer<typeof Redundancy>

/** By relation type. Without an entry, an item needs all of its dependencies of that type. */
export const RedundancyByType = z
  .strictObject(
    Object.fromEntries(impactTypes.map((type) => [type, Redundancy.optional()])) as {
      [Type in Exclude<RelationType, 'connects_to' | 'manages' | 'owned_by'>]: z.ZodOptional<
        typeof Redundancy
      >
    },
  )
  .meta({
    description:
      'For each relation type, the number of dependencies that must be up for the item to stay up: a count ' +
      '(`minUp`) or a percentage (`minUpPercent`, rounded up). Without an entry, all dependencies of that type are ' +
      'required.',
    example: { depends_on: { minUp: 1 } },
  })
export type RedundancyByType = z.infer<typeof RedundancyByType>

const ItemId = idSchema('ci')

const relationFields = {
  sourceId: ItemId,
  targetId: ItemId,
  type: RelationType,
}

/** A relation as contained in API responses and events. It is immutable. */
export const CiRelation = z
  .object({
    id: idSchema('relation'),
    ...relationFields,
    createdBy: Actor,
    createdAt: z.iso.datetime({ precision: 3 }),
  })
  .meta({ id: 'CiRelation' })
export type CiRelation = z.infer<typeof CiRelation>

export const NewCiRelation = z
  .strictObject(relationFields)
  .refine(({ sourceId, targetId }) => sourceId !== targetId, {
    path: ['targetId'],
    message: 'must be another item than the source',
  })
  .meta({
    id: 'NewCiRelation',
    example: {
      sourceId: 'ci_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
      targetId: 'ci_01JZ8Q4D3N5W7X9Y2B4C6D8E0G',
      type: 'depends_on',
    },
  })
export type NewCiRelation = z.infer<typeof NewCiRelation>
