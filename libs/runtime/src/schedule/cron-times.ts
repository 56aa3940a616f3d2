import { cronFields } from '@opsplane/contracts'
import { Cron } from 'croner'
import { type LocalClock, localClock } from './local-clock.js'

/** Times as shown by a wall clock that never changes, in milliseconds. */
interface WallTimes {
  after(shown: number): number | undefined
  before(shown: number): number | undefined
}

/**
 * The instants of a cron expression in a time zone. If hours are named, clock changes of a day are evened out: a
 * time within a gap fires once, at the end of the gap, and a time that the clock shows twice fires the first time.
 * For every hour (`*`) it fires whenever the time is shown: never for times in a gap, and twice for times shown
 * twice.
 */
export function cronTimes(expression: string, timeZone: string): Times {
  const fields = cronFields(expression)
  const wall = wallTimes(fields.join(' '))
  const clock = localClock(timeZone)
  return fields[1] === '*' ? everyHour(wall, clock) : namedHours(wall, clock)
}

/**
 * Uses a fixed offset: how the library handles clock changes is up to the library, and it calls Intl at every
 * step.
 */
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
      // Times shown up to then have passed.
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
        // The instant of the change itself is included.
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

/** The instants of a schedule, in milliseconds. */
export interface Times {
  /** The first instant after the given one; `undefined` if there is none. */
  after(instant: number): number | undefined
  /** The last instant before the given one; `undefined` if there is none. */
  before(instant: number): number | undefined
}
