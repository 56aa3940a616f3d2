import { stringifyExact } from '@opsplane/client'

/** A changed field with its dotted path; the values are JSON texts, `undefined` if the field did not exist. */
export interface Difference {
  path: string
  before: string | undefined
  after: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** Compares two states of a record field by field; objects are compared recursively, lists as a whole. */
export function differences(before: Fields | null, after: Fields | null, prefix = ''): Difference[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.flatMap((name) => {
    const [was, is] = [before?.[name], after?.[name]]
    const path = `${prefix}${name}`
    if (isFields(was) && isFields(is)) return differences(was, is, `${path}.`)
    const [one, other] = [textOf(was), textOf(is)]
    return one === other ? [] : [{ path, before: one, after: other }]
  })
}

/** The state after an event without the additional fields of the event, which are not fields of the record. */
export function withoutExtras(after: Fields | null, before: Fields | null, extras: Fields): Fields | null {
  if (after === null) return null
  const isOwn = (name: string) => !(name in extras) || (before !== null && name in before)
  return Object.fromEntries(Object.entries(after).filter(([name]) => isOwn(name)))
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

const textOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : stringifyExact(value)
