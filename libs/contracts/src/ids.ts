import { monotonicFactory } from 'ulid'
import { z } from 'zod'

/** Every kind of thing that has an id, and the prefix its ids carry. */
export const idPrefixes = {
  event: 'evt',
  workspace: 'ws',
  user: 'usr',
  membership: 'mbr',
  invitation: 'inv',
  session: 'ses',
  token: 'tok',
  secret: 'sec',
  role: 'rol',
  incident: 'inc',
  comment: 'cmt',
  ci: 'ci',
  relation: 'rel',
  ciClass: 'cls',
  slaCalendar: 'cal',
  slaPolicy: 'slp',
  slaTimer: 'tmr',
  slaBreach: 'brc',
  article: 'art',
  itsmSettings: 'its',
  change: 'chg',
  approval: 'apr',
  changePolicy: 'cpl',
  changeWindow: 'win',
  problem: 'prb',
  catalogItem: 'cit',
  catalogRequest: 'rqs',
  catalogTask: 'ctk',
  webhook: 'wh',
  delivery: 'del',
  attempt: 'att',
  replay: 'rpl',
  resend: 'rsd',
  notification: 'ntf',
  auditExport: 'aex',
  request: 'req',
} as const

export type IdKind = keyof typeof idPrefixes

const nextUlid = monotonicFactory()

/** A new id such as `inc_01J…`: sortable by creation time, monotonic within one process. */
export function newId(kind: IdKind): string {
  return `${idPrefixes[kind]}_${nextUlid()}`
}

const ulidPattern = '[0-9A-HJKMNP-TV-Z]{26}'

/** Schema of an id of one kind, for bodies and events. Path ids are not checked: a malformed id is a 404. */
export function idSchema(kind: IdKind) {
  return z
    .string()
    .regex(
      new RegExp(`^${idPrefixes[kind]}_${ulidPattern}$`),
      `must be an id of the form ${idPrefixes[kind]}_<ULID>`,
    )
}
