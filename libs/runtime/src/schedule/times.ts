import type { Schedule } from '@opsplane/contracts'
import type { Times } from './cron-times.js'
import { cronTimes } from './cron-times.js'
import { instantIn } from './moments.js'

/** The part of a schedule that determines its times; with an interval `startAt` must be set. */
type Spec = Pick<Schedule, 'cron' | 'timeZone' | 'everySeconds' | 'startAt' | 'endAt'>

/** Throws RangeError for a schedule that its schema does not allow. */
export function createTimes(spec: Spec): Times {
  const from = boundOf(spec, spec.startAt) ?? Number.NEGATIVE_INFINITY
  const until = boundOf(spec, spec.endAt) ?? Number.POSITIVE_INFINITY
  const times = unbounded(spec)
  const within = (at: number | undefined) => (at !== undefined && at >= from && at <= until ? at : undefined)
  return {
    after: (instant) => within(times.after(Math.max(instant, from - 1))),
    before: (instant) => within(times.before(Math.min(instant, until + 1))),
  }
}

const boundOf = ({ timeZone = 'UTC' }: Pick<Spec, 'timeZone'>, bound: string | undefined) =>
  bound === undefined ? undefined : Date.parse(instantIn(timeZone, bound))

function unbounded(spec: Spec): Times {
  const { cron, timeZone = 'UTC', everySeconds } = spec
  if (cron !== undefined) return cronTimes(cron, timeZone)
  const anchor = boundOf(spec, spec.startAt)
  if (everySeconds === undefined || anchor === undefined)
    throw new RangeError('A schedule needs cron, or everySeconds and the instant it counts from.')
  return intervalTimes(everySeconds * 1_000, anchor)
}

function intervalTimes(everyMs: number, anchor: number): Times {
  const at = (count: number) => anchor + count * everyMs
  return {
    after: (instant) => at(Math.max(0, Math.floor((instant - anchor) / everyMs) + 1)),
    before: (instant) => (instant > anchor ? at(Math.ceil((instant - anchor) / everyMs) - 1) : undefined),
  }
}

/** The next times after an instant, at most `count`, as ISO text for display. */
export function previewTimes(spec: Spec, from: string, count: number): string[] {
  const times = createTimes(spec.everySeconds === undefined ? spec : { startAt: from, ...spec })
  const found: string[] = []
  for (let at = times.after(Date.parse(from)); at !== undefined && found.length < count; at = times.after(at))
    found.push(new Date(at).toISOString())
  return found
}
