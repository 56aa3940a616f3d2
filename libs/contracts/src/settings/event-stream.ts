import { z } from 'zod'
import { NewFilter } from '../core/filter.js'
import { EventPattern } from '../dispatcher/webhook-input.js'
import { parseExact } from '../json/exact-json.js'
import { AuditEvent, AuditFilters } from './settings.js'

/** A filter as a query parameter. Longer ones do not fit into a URL, which would be rejected as too large. */
const FilterText = z
  .string()
  .max(8_192)
  .transform((text, ctx) => {
    try {
      return parseExact(text)
    } catch {
      ctx.addIssue({ code: 'custom', message: 'must be JSON, such as {"data.severity":"critical"}' })
      return z.NEVER
    }
  })
  .pipe(NewFilter)

/** Query of `GET /events/stream`: the parameters of `GET /audit` without times. All given conditions must hold. */
export const EventStreamQuery = AuditFilters.omit({ from: true, to: true }).extend({
  type: z
    .array(EventPattern)
    .min(1)
    .max(50)
    .optional()
    .meta({ description: 'Event types or patterns, in the format of webhooks. Default: all events.' }),
  filter: FilterText.optional().meta({
    description:
      'A `Filter` as JSON, in the format of webhooks: conditions over the body of a delivery of the event, such as ' +
      '`data.severity`.',
    example: '{"data.severity":{"in":["high","critical"]}}',
  }),
  changed: z.enum(['true', 'false']).optional().meta({
    description:
      '`false`: omits the messages `changed` of deliveries, runs and executions. By default, they are included.',
  }),
  afterSeq: z.coerce
    .number()
    .pipe(z.int().min(0))
    .optional()
    .meta({
      description:
        'The `seq` of the last event that was read. The header `Last-Event-ID` has the same meaning and takes ' +
        'precedence. By default, only new events are sent.',
    }),
})
export type EventStreamQuery = z.infer<typeof EventStreamQuery>

/** The `data` of a server-sent event of `GET /events/stream`. */
export const StreamedEvent = AuditEvent.omit({ hash: true }).meta({ id: 'StreamedEvent' })
export type StreamedEvent = z.infer<typeof StreamedEvent>
