/** One of the fields of a cron expression. */
interface Field {
  name: string
  least: number
  most: number
  /** Names for the numbers from `least` on. */
  words: readonly string[]
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const fields: readonly Field[] = [
  { name: 'minute', least: 0, most: 59, words: [] },
  { name: 'hour', least: 0, most: 23, words: [] },
  { name: 'day of month', least: 1, most: 31, words: [] },
  { name: 'month', least: 1, most: 12, words: months },
  { name: 'day of week', least: 0, most: 7, words: weekdays },
]
const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Shorthands for all five fields. */
const nicknames: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
}

/** The five fields of an expression in upper case, with shorthands expanded. */
export function cronFields(expression: string): string[] {
  const written = expression.trim()
  return (nicknames[written.toLowerCase()] ?? written).toUpperCase().split(/\s+/)
}

/**
 * Returns the problem of a cron expression, naming the part that has it; `undefined` if it is valid. Each of minute,
 * hour, day of month, month and day of week is `*`, a number or its name, a range, a list, or one of these with a step;
 * `L` is the last day of the month, `FRIL` the last Friday, `FRI#2` the second. If both day fields are set, matching
 * either is enough, as in other cron implementations.
 */
export function cronProblem(expression: string): string | undefined {
  const written = cronFields(expression)
  if (written.length !== fields.length)
    return `needs five parts (${fields.map(({ name }) => name).join(', ')}), or one of ${Object.keys(nicknames).join(', ')}`
  for (const [index, field] of fields.entries()) {
    const part = written[index] ?? ''
    const wrong = part.split(',').find((item) => !isItem(item, field))
    if (wrong !== undefined)
      return `${field.name}: ${wrong === '' ? 'something is missing' : `${wrong} ${expected(field)}`}`
  }
  const [, , days = '', inMonths = '', weekday] = written
  const maxDay = Math.max(
    ...numbersOf(inMonths, fields[3] as Field).map((month) => daysOfMonths[month - 1] ?? 31),
  )
  const minDay = Math.min(...numbersOf(days, fields[2] as Field))
  if (weekday === '*' && minDay > maxDay) return `day of month: no such month has a day ${minDay}`
  return undefined
}

const expected = ({ least, most, words }: Field) =>
  `is not a number from ${least} to ${most}${words.length > 0 ? `, ${words[0]} to ${words.at(-1)}` : ''}, a range or a step of these`

function isItem(item: string, field: Field): boolean {
  if (field.name === 'day of month' && item === 'L') return true
  if (field.name === 'day of week') {
    const [, day, nth] = /^(\w+?)(L|#[1-5])$/.exec(item) ?? []
    if (day !== undefined && nth !== undefined) return numberOf(day, field) !== undefined
  }
  const [range = '', step, ...more] = item.split('/')
  const [from = '', to, ...others] = range.split('-')
  if (more.length > 0 || others.length > 0) return false
  if (
    step !== undefined &&
    !(/^\d{1,2}$/.test(step) && Number(step) > 0 && (from === '*' || to !== undefined))
  )
    return false
  if (from === '*') return to === undefined
  const first = numberOf(from, field)
  const last = to === undefined ? first : numberOf(to, field)
  return first !== undefined && last !== undefined && first <= last
}

function numberOf(text: string, { least, most, words }: Field): number | undefined {
  const word = words.indexOf(text)
  const number = word >= 0 ? word + least : /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return number >= least && number <= most ? number : undefined
}

/** Start numbers of the items of a field, for checks that need no calendar. */
const numbersOf = (part: string, field: Field): number[] =>
  part.split(',').flatMap((item) => {
    const [range = ''] = item.split('/')
    const [from = '', to = from] = range.split('-')
    const [first, last] = [numberOf(from, field) ?? field.least, numberOf(to, field) ?? field.most]
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
