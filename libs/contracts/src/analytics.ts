import { z } from 'zod'
import { type EventDefinition, resourceEvent } from './catalog.js'
import { idSchema } from './ids.js'

const At = z.iso.datetime({ precision: 3 })

/** A question asked of a dataset. */
export const ReportState = z.object({
  id: idSchema('report'),
  name: z.string().trim().min(1).max(200),
  createdAt: At,
  updatedAt: At,
})
export type ReportState = z.infer<typeof ReportState>

export const analyticsEvents = {
  'report.created': resourceEvent(ReportState, 'A report was made.'),
} satisfies Record<string, EventDefinition>
