import { localClock } from './local-clock.js'

const day = /^\d{4}-\d\d-\d\d$/

/** When a day begins by the clock of a zone, as an ISO instant. */
export const startOfDay = (text: string, timeZone: string): string =>
  new Date(localClock(timeZone).instantOf(Date.parse(text))).toISOString()

/** The instant that a `MomentOrDay` stands for: of a date the start of that day by the clock of a zone. */
export const instantIn = (timeZone: string, momentOrDay: string): string =>
  day.test(momentOrDay) ? startOfDay(momentOrDay, timeZone) : momentOrDay
