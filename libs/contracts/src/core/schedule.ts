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
      'Minute, hour, day of month, month and day of week, in the time zone of the schedule: `30 7 * * MON-FRI`. ' +
      'Also accepts `@hourly`, `@daily`, `@weekly`, `@monthly` and `@yearly`; `L` for the last day of the month, ' +
      '`FRIL` for the last Friday, `FRI#2` for the second.',
    example: '30 7 * * MON-FRI',
  })

const TimeZone = TimeZoneName.meta({
  description: 'IANA name of a time zone. Default: UTC.',
  example: 'Europe/Berlin',
})

/** How a schedule handles a due time while earlier work is still running. */
export const OverlapPolicy = z.enum(['skip', 'queue', 'cancel_previous']).meta({
  description:
    'Behavior at a due time while earlier work is still running. `skip`: the due time is skipped. `queue`: the ' +
    'new work starts afterwards. `cancel_previous`: the running work is canceled.',
})
export type OverlapPolicy = z.infer<typeof OverlapPolicy>

/** How a schedule handles times that passed while no replica could start runs. */
export const MisfirePolicy = z.enum(['skip', 'once', 'all']).meta({
  description:
    'Handling of times missed by more than a minute. `skip`: they are skipped. `once`: a single start makes up ' +
    'for all of them. `all`: each of the latest `maxCatchUp` times is made up for.',
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
          'Alternative to `cron`: interval in seconds, starting at `startAt`, or now if `startAt` is omitted.',
      }),
    overlap: OverlapPolicy.default('skip'),
    misfire: MisfirePolicy.default('once'),
    maxCatchUp: z
      .int()
      .min(1)
      .max(100)
      .default(10)
      .meta({ description: 'Maximum number of missed times made up for, and of times queued.' }),
    startAt: MomentOrDay.optional().meta({
      description:
        'Nothing starts before this instant. A date stands for the beginning of that day in the time zone of the ' +
        'schedule.',
    }),
    endAt: MomentOrDay.optional().meta({
      description:
        'Nothing starts after this instant. A date stands for the beginning of that day in the time zone of the ' +
        'schedule.',
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
