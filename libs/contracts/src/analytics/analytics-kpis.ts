import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { CalendarDay, MomentOrDay } from '../core/moment.js'
import { Schedule } from '../core/schedule.js'
import { TimeZoneName } from '../core/time-zone.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { AnalyticsQuery, MeasureDefinition, Quantity } from './analytics-query.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(200)

export const KpiDirection = z
  .enum(['up', 'down'])
  .meta({ description: 'Direction in which the KPI improves.' })
export type KpiDirection = z.infer<typeof KpiDirection>

const kpiStatuses = ['on_target', 'at_risk', 'off_target', 'no_target', 'no_data'] as const
export const KpiStatus = z.enum(kpiStatuses).meta({
  description: '`at_risk`: the value misses the target but is within the warning threshold.',
})
export type KpiStatus = z.infer<typeof KpiStatus>

/** Target value of a KPI from a given date on. */
export const KpiTarget = z
  .strictObject({
    from: CalendarDay.meta({
      description: 'First day on which the target applies, in the time zone of the KPI.',
    }),
    value: Quantity,
    warning: Quantity.optional().meta({
      description:
        'Warning threshold. A value that misses the target but meets this threshold makes the KPI at risk instead of ' +
        'off target.',
    }),
  })
  .meta({ id: 'KpiTarget', example: { from: '2026-01-01', value: 14_400_000, warning: 18_000_000 } })
export type KpiTarget = z.infer<typeof KpiTarget>

/** Period a value covers: the last complete hour, day, … in the KPI's time zone, or a number of seconds back. */
export const KpiPeriod = z
  .union([
    z.strictObject({ last: z.enum(['hour', 'day', 'week', 'month', 'quarter']) }),
    z.strictObject({
      seconds: z
        .int()
        .min(900)
        .max(366 * 86_400),
    }),
  ])
  .meta({
    id: 'KpiPeriod',
    description:
      '`last`: the latest such period that had ended at the time of measurement. `seconds`: the given number of ' +
      'seconds before the measurement, regardless of calendar boundaries.',
    example: { last: 'day' },
  })
export type KpiPeriod = z.infer<typeof KpiPeriod>

const KpiSource = z
  .union([
    z.strictObject({ measure: MeasureDefinition }),
    z.strictObject({
      query: AnalyticsQuery,
      column: z
        .string()
        .min(1)
        .max(100)
        .meta({ description: 'The measure whose total is the value of the KPI.' }),
    }),
  ])
  .meta({
    id: 'KpiSource',
    description:
      'A measure of a dataset, or one of the totals of a query. The period of the KPI replaces the range; records ' +
      'are assigned to it by their `timeField`. Without a `timeField`, records count in their current state. Only ' +
      'datasets can be measured for past periods.',
  })

const Targets = z
  .array(KpiTarget)
  .max(100)
  .refine(
    (targets) => new Set(targets.map(({ from }) => from)).size === targets.length,
    'must not repeat dates',
  )

const kpiFields = {
  name: Name,
  description: z.string().max(2_000),
  source: KpiSource,
  unit: z.string().trim().max(20),
  direction: KpiDirection,
  targets: Targets,
  period: KpiPeriod,
  timeZone: TimeZoneName,
  schedule: Schedule,
}

export const KpiState = z.object({
  id: idSchema('kpi'),
  ...kpiFields,
  ownerId: z.string().meta({ description: 'The user whose rights apply when the KPI is measured.' }),
  suspendedFor: z
    .array(z.string())
    .default([])
    .meta({
      description:
        "Permissions that the owner lacks, or the reason why the owner's rights ended, such as `membership`. Until a " +
        'user with the permissions takes the KPI over, it is not measured. Empty if nothing is missing.',
    }),
  createdAt: At,
  updatedAt: At,
})
export type KpiState = z.infer<typeof KpiState>

/** One measured value of a KPI. */
export const KpiPoint = z
  .object({
    at: At.meta({ description: 'Time for which the measurement was scheduled.' }),
    from: At.meta({ description: 'Start of the period that the value covers.' }),
    to: At.meta({ description: 'End of the period that the value covers.' }),
    timeZone: z.string().meta({ description: 'Time zone of the period.' }),
    value: Quantity.nullable(),
    target: Quantity.nullable(),
    status: KpiStatus,
    measuredAt: At,
    backfilled: z.boolean(),
  })
  .meta({ id: 'KpiPoint' })
export type KpiPoint = z.infer<typeof KpiPoint>

/** Current state of a KPI: latest value, trend and next measurement. */
export const KpiStanding = z
  .object({
    latest: KpiPoint.nullable(),
    trend: z
      .object({
        change: Quantity.nullable().meta({
          description: 'Difference between the latest value and the one before.',
        }),
        ratio: Quantity.nullable().meta({ description: 'The change as a share of the previous value.' }),
        direction: z.enum(['better', 'worse', 'steady']).nullable(),
      })
      .nullable(),
    nextAt: At.nullable().meta({ description: 'Time of the next measurement.' }),
    error: z.string().nullable().meta({ description: 'Reason why the last measurement failed.' }),
  })
  .meta({ id: 'KpiStanding' })
export type KpiStanding = z.infer<typeof KpiStanding>

export const Kpi = KpiState.extend({ standing: KpiStanding, version: z.int().min(1) }).meta({ id: 'Kpi' })
export type Kpi = z.infer<typeof Kpi>

const example = {
  name: 'Time to resolve',
  source: { measure: { dataset: 'incidents', measure: 'p90_time_to_resolve' } },
  unit: 'ms',
  direction: 'down',
  targets: [{ from: '2026-01-01', value: 14_400_000 }],
  timeZone: 'Europe/Berlin',
} as const

export const NewKpi = z
  .strictObject({
    ...kpiFields,
    description: kpiFields.description.default(''),
    unit: kpiFields.unit.default(''),
    direction: KpiDirection.default('up'),
    targets: Targets.default([]),
    period: KpiPeriod.default({ last: 'day' }),
    timeZone: TimeZoneName.default('UTC'),
    schedule: Schedule.optional().meta({
      description:
        'Schedule of the measurements. Default: one minute after the end of each period, or every hour if the period ' +
        'is given in seconds.',
    }),
  })
  .meta({ id: 'NewKpi', example })
export type NewKpi = z.infer<typeof NewKpi>

export const KpiPatch = z
  .strictObject(kpiFields)
  .partial()
  .meta({ id: 'KpiPatch', example: { targets: [{ from: '2026-07-01', value: 10_800_000 }] } })
export type KpiPatch = z.infer<typeof KpiPatch>

export const KpiBackfill = z
  .strictObject({
    from: MomentOrDay,
    to: MomentOrDay.optional().meta({ description: 'Must be later than `from`. Default: now.' }),
    timeZone: TimeZoneName.optional().meta({
      description: 'Time zone that determines when a given date begins. Default: the time zone of the KPI.',
    }),
    replace: z.boolean().default(false).meta({
      description:
        'Replaces existing measurements, for example after targets were corrected. If `false`, only gaps are filled.',
    }),
  })
  .meta({ id: 'KpiBackfill', example: { from: '2026-01-01T00:00:00.000Z' } })
export type KpiBackfill = z.infer<typeof KpiBackfill>

export const KpiBackfillStarted = z
  .object({ times: z.int().min(0).meta({ description: 'Number of measurements to be made.' }) })
  .meta({ id: 'KpiBackfillStarted' })

export const kpiEvents = {
  'kpi.created': resourceEvent(KpiState, 'A KPI was defined.'),
  'kpi.updated': resourceEvent(KpiState, 'The definition of a KPI was changed.'),
  'kpi.suspended': resourceEvent(
    KpiState,
    'A KPI is no longer measured: its owner may no longer read what it measures.',
  ),
  'kpi.deleted': resourceEvent(KpiState, 'A KPI was deleted with its history.'),
  'kpi.threshold_crossed': resourceEvent(
    KpiState,
    'The status of a KPI is another one than at the time before; the first one counts unless it is on target.',
    { point: KpiPoint, previousStatus: KpiStatus },
  ),
} satisfies Record<string, EventDefinition>
