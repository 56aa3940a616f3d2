import { z } from 'zod'
import { MomentOrDay } from './moment.js'

/** The query of reading one record, now or as it was. */
export const AsOfQuery = z.object({
  asOf: MomentOrDay.optional().meta({
    description:
      'Answer with the record as it was at this instant: fields, version and allowed actions. Before it was ' +
      'created, and after it was deleted, there is none.',
    example: '2026-03-02T10:00:00.000Z',
  }),
})

/** The query of a list, now or as it was. */
export const AsOfListQuery = z.object({
  asOf: MomentOrDay.optional().meta({
    description:
      'Answer with the list as it was at this instant: the records there were, as they were, and the filters ' +
      'applied to that. Only with `sort` createdAt or -createdAt.',
    example: '2026-03-02T10:00:00.000Z',
  }),
})

/** For the description of such a list. */
export const shortPages =
  'With `asOf` a page looks through 5,000 records at most (1,000 with `q`), so it can be short, even empty, while there is a ' +
  '`nextCursor`.'
