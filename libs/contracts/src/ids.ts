import { monotonicFactory, type PRNG } from 'ulid'
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
  changeTemplate: 'ctp',
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

/** Random numbers in [0, 1) from bytes drawn many at once: ulid asks for one at a time, each a call into OpenSSL. */
function bufferedRandom(): PRNG {
  const bytes = new Uint8Array(4_096)
  let used = bytes.length
  return () => {
    if (used === bytes.length) {
      crypto.getRandomValues(bytes)
      used = 0
    }
    const byte = bytes[used++] ?? 0
    return byte / 256
  }
}

const nextUlid = monotonicFactory(bufferedRandom())

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
