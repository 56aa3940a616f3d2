import { localClock } from './local-clock.js'

const day = /^\d{4}-\d\d-\d\d$/

/** The start of a day in a time zone, as an ISO instant. */
export const startOfDay = (text: string, timeZone: string): string =>
  new Date(localClock(timeZone).instantOf(Date.parse(text))).toISOString()

/** The instant of a `MomentOrDay`: for a date, the start of that day in the time zone. */
export const instantIn = (timeZone: string, momentOrDay: string): string =>
  day.test(momentOrDay) ? startOfDay(momentOrDay, timeZone) : momentOrDay
