import { MomentOrDay, recordListBounds, TimeZoneName } from '@opsplane/contracts'
import { z } from 'zod'

const names = (description: string, example: string) =>
  z.string().min(1).max(recordListBounds.names).optional().meta({ description, example })

/** Query parameters that select the returned fields. */
export const ShownFields = {
  fields: names('Fields to return in addition to id and version.', 'name,price'),
  expand: names(
    'References to answer as the records they lead to; `a.b` expands those of an expanded one.',
    'site',
  ),
}

const Slow = z.enum(['true', 'false']).transform((text) => text === 'true')

/** Query parameters of a list of records. */
export const ListFilters = z.object({
  filter: z
    .string()
    .max(recordListBounds.filter)
    .optional()
    .meta({ description: 'A RecordFilter as JSON.', example: '{"status":"new"}' }),
  timeZone: TimeZoneName.optional().meta({
    description:
      'Time zone, as an IANA name, that determines when a date begins in a filter of a timestamp. Default: UTC.',
    example: 'Europe/Berlin',
  }),
  sort: names('At most four fields; `-` sorts descending.', '-price,name'),
  q: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .optional()
    .meta({
      description:
        'Words to search for in the full-text indexes of the table; if the table has none, text to find anywhere in ' +
        'its text columns. Accents and case are ignored; `"…"` matches a phrase, `-` excludes a word, `or` matches ' +
        'either word.',
    }),
  count: z
    .enum(['estimated', 'exact'])
    .optional()
    .meta({ description: 'Include `pagination.total`: estimated by Postgres, or counted exactly.' }),
  slow: Slow.optional().meta({
    description: 'Allow reading the whole table if no index serves the filter and sort.',
  }),
  asOf: MomentOrDay.optional().meta({
    description:
      'Return the state at this instant. A list is then in the order of ids and can be combined with `filter` only.',
    example: '2026-03-02T10:00:00.000Z',
  }),
  ...ShownFields,
})
