import { cronFields } from '@opsplane/contracts'
import { Cron } from 'croner'
import { type LocalClock, localClock } from './local-clock.js'

/** Times of a clock on a wall that never changes, in milliseconds. */
interface WallTimes {
  after(shown: number): number | undefined
  before(shown: number): number | undefined
}

/**
 * The instants of a cron expression in a time zone. With hours that are named, each day is as if its clock had not changed:
 * what falls into a gap comes at its end, once, and what the clock shows twice comes the first time. Of every hour (`*`) there
 * are as many as pass: none of a gap, and those shown twice come twice.
 */
export function cronTimes(expression: string, timeZone: string): Times {
  const fields = cronFields(expression)
  const wall = wallTimes(fields.join(' '))
  const clock = localClock(timeZone)
  return fields[1] === '*' ? everyHour(wall, clock) : namedHours(wall, clock)
}

/** With a fixed offset: how a library goes over changes of the clock is its own choice, and it asks Intl at every step. */
function wallTimes(expression: string): WallTimes {
  const cron = new Cron(expression, { utcOffset: 0, paused: true })
  const second = 1_000
  return {
    after: (shown) => cron.nextRuns(1, new Date(Math.floor(shown / second) * second))[0]?.getTime(),
    before: (shown) => cron.previousRuns(1, new Date(Math.ceil(shown / second) * second))[0]?.getTime(),
  }
}

function namedHours(wall: WallTimes, clock: LocalClock): Times {
  return {
    after(instant) {
      // Whatever is shown until then is over.
      let shown = wall.after(instant + clock.offsetsAround(instant).least)
      while (shown !== undefined) {
        const at = clock.instantOf(shown)
        if (at > instant) return at
        shown = wall.after(shown)
      }
      return undefined
    },
    before(instant) {
      let shown = wall.before(instant + clock.offsetsAround(instant).most)
      while (shown !== undefined) {
        const at = clock.instantOf(shown)
        if (at < instant) return at
        shown = wall.before(shown)
      }
      return undefined
    },
  }
}

function everyHour(wall: WallTimes, clock: LocalClock): Times {
  return {
    after(instant) {
      let [from, since] = [instant, instant]
      for (;;) {
        const [offset, change] = [clock.offsetAt(since), clock.changeAfter(since)]
        const shown = wall.after(from + offset)
        if (shown === undefined || shown - offset < change) return shown && shown - offset
        // The change itself is one of the instants that come.
        from = change - 1
        since = change
      }
    },
    before(instant) {
      for (let until = instant; ; ) {
        const [offset, change] = [clock.offsetAt(until - 1), clock.changeUntil(until - 1)]
        const shown = wall.before(until + offset)
        if (shown === undefined || shown - offset >= change) return shown && shown - offset
        until = change
      }
    },
  }
}

/** When something is due, as instants in milliseconds. */
export interface Times {
  /** The first one after an instant; undefined where there is none. */
  after(instant: number): number | undefined
  /** The last one before an instant. */
  before(instant: number): number | undefined
}
