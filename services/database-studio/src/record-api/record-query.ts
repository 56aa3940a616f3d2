import { MomentOrDay, recordListBounds, TimeZoneName } from '@opsplane/contracts'
import { z } from 'zod'

const names = (description: string, example: string) =>
  z.string().min(1).max(recordListBounds.names).optional().meta({ description, example })

/** Query parameters that select the returned fields. */
export const ShownFields = {
  fields: names('Fields to answer, in addition to id and version.', 'name,price'),
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
    description: 'Where a date in the filter of a timestamp begins: an IANA name; UTC unless given.',
    example: 'Europe/Berlin',
  }),
  sort: names('At most four fields; `-` sorts descending.', '-price,name'),
  q: z.string().trim().min(1).max(200).optional().meta({
    description:
      'Words to search for, by the full-text indexes of the table; without one, a part of any text. Accents, upper and lower case do not matter; `"…"` is a phrase, `-` excludes, `or` is either.',
  }),
  count: z
    .enum(['estimated', 'exact'])
    .optional()
    .meta({ description: 'Answer `pagination.total`: as Postgres expects it, or counted.' }),
  slow: Slow.optional().meta({ description: 'Read the whole table where no index serves this.' }),
  asOf: MomentOrDay.optional().meta({
    description: 'Answer with the list as it was at this instant, in the order of ids; with `filter` alone.',
    example: '2026-03-02T10:00:00.000Z',
  }),
  ...ShownFields,
})
