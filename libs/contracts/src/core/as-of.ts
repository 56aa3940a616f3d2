import { z } from 'zod'
import { MomentOrDay } from './moment.js'

/** Query of routes that read one record in its current state or its state at an instant. */
export const AsOfQuery = z.object({
  asOf: MomentOrDay.optional().meta({
    description:
      'Answer with the record as it was at this instant: fields, version and allowed actions. Before it was ' +
      'created, and after it was deleted, there is none.',
    example: '2026-03-02T10:00:00.000Z',
  }),
})

/** Query of list routes that return the current state or the state at an instant. */
export const AsOfListQuery = z.object({
  asOf: MomentOrDay.optional().meta({
    description:
      'Answer with the list as it was at this instant: the records there were, as they were, and the filters ' +
      'applied to that. Only with `sort` createdAt or -createdAt.',
    example: '2026-03-02T10:00:00.000Z',
  }),
})

/** Sentence for the descriptions of such list routes. */
export const shortPages =
  'With `asOf` a page looks through 5,000 records at most (1,000 with `q`), so it can be short, even empty, while there is a ' +
  '`nextCursor`.'
