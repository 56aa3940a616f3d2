import { z } from 'zod'
import { MomentOrDay } from './moment.js'

/** Query of routes that read one record in its current state or its state at an instant. */
export const AsOfQuery = z.object({
  asOf: MomentOrDay.optional().meta({
    description:
      'Returns the record in its state at this instant: fields, version and allowed actions. Before its creation ' +
      'and after its deletion, the record does not exist.',
    example: '2026-03-02T10:00:00.000Z',
  }),
})

/** Query of list routes that return the current state or the state at an instant. */
export const AsOfListQuery = z.object({
  asOf: MomentOrDay.optional().meta({
    description:
      'Returns the list in its state at this instant: the records that existed, with their state at that instant, ' +
      'to which the filters are applied. Only with `sort` createdAt or -createdAt.',
    example: '2026-03-02T10:00:00.000Z',
  }),
})

/** Sentence for the descriptions of such list routes. */
export const shortPages =
  'With `asOf`, a page scans at most 5,000 records (1,000 with `q`), so it can be short or even empty while `nextCursor` is ' +
  'not null.'
