import { KnownValidation, type PlatformEvent, RecordValidation } from '@opsplane/contracts'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { keepValidations } from './known.js'

const Artifact = z.object({
  status: z.string(),
  rule: z.object({ validates: RecordValidation.optional() }).nullable(),
})

/** Follows the artifacts of the sdk, whatever it has said itself. */
export const followValidations = ({ consume, database: { sql } }: ServiceContext): BackgroundWork =>
  consume({
    durable: 'database-studio-validations',
    types: ['artifact.created', 'artifact.updated', 'artifact.removed'],
    perform: async (events) => {
      for (const event of events) await keepValidations(sql, event, [validationOf(event)])
    },
  })

/** One that is suspended is not run, so that `whenUnavailable` decides about its records. */
function validationOf({ resource, version, data }: PlatformEvent): KnownValidation {
  const { status, rule } = Artifact.parse(data.after)
  const validates = status === 'removed' ? null : (rule?.validates ?? null)
  return KnownValidation.parse({ artifactId: resource.id, version, validates })
}
