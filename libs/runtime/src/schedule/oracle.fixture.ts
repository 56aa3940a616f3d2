const minuteMs = 60_000
const quarter = 15
// Looking these up in Jest's globals is slow, minute by minute.
const { floor, max } = Math

/** A day as shown by the wall clock of a zone. */
interface Shown {
  day: number
  month: number
  weekday: number
  daysInMonth: number
}

/** All minutes between two instants. Intl is queried four times an hour, because clocks change at no other times. */
interface Minutes {
  from: number
  /** The shown minute, counted from 1970 as if the clock had never changed. */
  shown: Float64Array
}

export function listMinutes(timeZone: string, from: number, to: number): Minutes {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
    hourCycle: 'h23',
  })
  const shown = new Float64Array((to - from) / minuteMs)
  for (let index = 0; index < shown.length; index += quarter) {
    const [day, month, year, hour, minute] =
      format
        .format(from + index * minuteMs)
        .match(/\d+/g)
        ?.map(Number) ?? []
    const first = Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute) / minuteMs
    for (let later = 0; later < quarter; later++) shown[index + later] = first + later
  }
  return { from, shown }
}

/** The instants of an expression among these minutes, found by testing each minute. */
export function findInstants({ from, shown }: Minutes, expression: string): number[] {
  const fits = matcher(expression)
  const hoursAreNamed = expression.split(' ')[1] !== '*'
  const found: number[] = []
  let latest = (shown[0] ?? 0) - 1
  for (let index = 0; index < shown.length; index++) {
    const minute = shown[index] ?? 0
    const skipped = minute > latest + 1 && shown[index - 1] === latest ? minute - latest - 1 : 0
    const fitsInGap =
      skipped > 0 && Array.from({ length: skipped }, (_, gone) => latest + 1 + gone).some(fits)
    const fires = hoursAreNamed ? minute > latest && (fits(minute) || fitsInGap) : fits(minute)
    if (fires) found.push(from + index * minuteMs)
    latest = max(latest, minute)
  }
  return found
}

function matcher(expression: string): (minute: number) => boolean {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = expression.split(' ')
  const restricted = day !== '*' && weekday !== '*'
  return (at) => {
    if (!isOneOf(minute, at % 60) || !isOneOf(hour, floor(at / 60) % 24)) return false
    const shown = shownAt(at)
    const onDay = day === 'L' ? shown.day === shown.daysInMonth : isOneOf(day, shown.day)
    const onWeekday = isWeekday(weekday, shown)
    return isOneOf(month, shown.month) && (restricted ? onDay || onWeekday : onDay && onWeekday)
  }
}

function shownAt(minute: number): Shown {
  const date = new Date(minute * minuteMs)
  return {
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
    daysInMonth: new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate(),
  }
}

const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

function isWeekday(part: string, { weekday, day, daysInMonth }: Shown): boolean {
  const [name = '', nth] = part.split('#')
  if (nth !== undefined) return weekdays[weekday] === name && Math.ceil(day / 7) === Number(nth)
  if (part.endsWith('L')) return weekdays[weekday] === part.slice(0, -1) && day + 7 > daysInMonth
  return isOneOf(
    part.replace(/[A-Z]{3}/g, (word) => String(weekdays.indexOf(word))),
    weekday,
  )
}

const known = new Map<string, Set<number>>()

function isOneOf(part: string, value: number): boolean {
  const numbers = known.get(part) ?? new Set(part.split(',').flatMap(numbersIn))
  known.set(part, numbers)
  return numbers.has(value)
}

function numbersIn(item: string): number[] {
  const [range = '', step = '1'] = item.split('/')
  const [least = 0, most = least] = range === '*' ? [0, 99] : range.split('-').map(Number)
  const all = Array.from({ length: most - least + 1 }, (_, index) => least + index)
  return all.filter((value) => (value - least) % Number(step) === 0)
}
