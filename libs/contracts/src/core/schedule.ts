import { z } from 'zod'
import { cronProblem } from './cron.js'
import { CalendarDay, isLater, MomentOrDay } from './moment.js'
import { TimeZoneName } from './time-zone.js'

const Cron = z
  .string()
  .max(200)
  .superRefine((expression, context) => {
    const problem = cronProblem(expression)
    if (problem !== undefined)
      context.addIssue({ code: 'custom', message: problem, params: { code: 'invalid_cron' } })
  })
  .meta({
    description:
      'Minute, hour, day of month, month and day of week, by the clock of the time zone: `30 7 * * MON-FRI`. Also `@hourly`, ' +
      '`@daily`, `@weekly`, `@monthly` and `@yearly`; `L` for the last day of the month, `FRIL` for the last Friday, `FRI#2` for ' +
      'the second.',
    example: '30 7 * * MON-FRI',
  })

const TimeZone = TimeZoneName.meta({ description: 'IANA name; UTC without.', example: 'Europe/Berlin' })

/** How a schedule handles a due time while earlier work is still running. */
export const OverlapPolicy = z.enum(['skip', 'queue', 'cancel_previous']).meta({
  description:
    '`skip` leaves a time out while what was begun before it goes on; `queue` begins afterwards; `cancel_previous` ends what goes on.',
})
export type OverlapPolicy = z.infer<typeof OverlapPolicy>

/** How a schedule handles times that passed while no replica could start runs. */
export const MisfirePolicy = z.enum(['skip', 'once', 'all']).meta({
  description:
    'Of times missed by more than a minute: `skip` leaves them out, `once` makes up for all of them with one, `all` makes up ' +
    'for each of the latest `maxCatchUp`.',
})
export type MisfirePolicy = z.infer<typeof MisfirePolicy>

/** When recurring work starts. */
export const Schedule = z
  .strictObject({
    cron: Cron.optional(),
    timeZone: TimeZone.optional(),
    everySeconds: z
      .int()
      .min(1)
      .max(366 * 86_400)
      .optional()
      .meta({
        description:
          'In place of `cron`: at `startAt` and every so many seconds after it; without `startAt` from now on.',
      }),
    overlap: OverlapPolicy.default('skip'),
    misfire: MisfirePolicy.default('once'),
    maxCatchUp: z
      .int()
      .min(1)
      .max(100)
      .default(10)
      .meta({ description: 'Times made up for, and times queued, at most.' }),
    startAt: MomentOrDay.optional().meta({
      description:
        'Nothing is begun before it. A date is when that day begins by the clock of the time zone.',
    }),
    endAt: MomentOrDay.optional().meta({
      description: 'Nothing is begun after it. A date is when that day begins by the clock of the time zone.',
    }),
  })
  .superRefine(({ cron, everySeconds, timeZone, startAt, endAt }, context) => {
    const wrong = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    if (cron === undefined && everySeconds === undefined) wrong('cron', 'is required, or everySeconds is')
    if (cron !== undefined && everySeconds !== undefined)
      wrong('everySeconds', 'cannot be combined with cron')
    const hasDay = [startAt, endAt].some((bound) => CalendarDay.safeParse(bound).success)
    if (timeZone !== undefined && cron === undefined && !hasDay)
      wrong('timeZone', 'is of use with cron or a date only')
    if (startAt !== undefined && endAt !== undefined && isLater(startAt, endAt))
      wrong('endAt', 'must not be before startAt')
  })
  .meta({ id: 'Schedule', example: { cron: '30 7 * * MON-FRI', timeZone: 'Europe/Berlin' } })
export type Schedule = z.infer<typeof Schedule>
