import { decodeTime, encodeTime, monotonicFactory, type PRNG } from 'ulid'
import { z } from 'zod'

/** Every kind of resource that has an id, with its id prefix. */
export const idPrefixes = {
  event: 'evt',
  workspace: 'ws',
  user: 'usr',
  membership: 'mbr',
  invitation: 'inv',
  accountToken: 'act',
  session: 'ses',
  factor: 'fac',
  signInChallenge: 'sic',
  token: 'tok',
  secret: 'sec',
  role: 'rol',
  identityProvider: 'idp',
  identity: 'idn',
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
  space: 'spc',
  table: 'tbl',
  record: 'rec',
  query: 'qry',
  migration: 'mig',
  import: 'imp',
  connector: 'con',
  invocation: 'ivk',
  workflow: 'wf',
  run: 'run',
  runRetry: 'rrt',
  executionRetry: 'ert',
  hook: 'hk',
  grant: 'grt',
  schedule: 'sch',
  artifact: 'atf',
  pack: 'pck',
  execution: 'exec',
  job: 'job',
  report: 'rpt',
  dashboard: 'dsh',
  kpi: 'kpi',
  export: 'exp',
  exportLink: 'lnk',
  app: 'app',
  page: 'pag',
  dataSource: 'dsr',
  deployment: 'dpl',
  embedToken: 'emb',
  request: 'req',
} as const

export type IdKind = keyof typeof idPrefixes

/** Random numbers in [0, 1) from buffered bytes: ulid requests them one at a time, and each request would call OpenSSL. */
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

/**
 * Returns a generator of ids such as `inc_01J…` for a clock in Unix milliseconds. Ids sort by creation time and are
 * monotonic.
 */
export function idFactory(now: () => number): (kind: IdKind) => string {
  const nextUlid = monotonicFactory(bufferedRandom())
  return (kind) => `${idPrefixes[kind]}_${nextUlid(now())}`
}

/** A new id, using the clock of this process. */
export const newId = idFactory(Date.now)

/** Creation time of an id in Unix milliseconds, by the clock of the process that created it. */
export const idTime = (id: string): number => decodeTime(id.slice(id.indexOf('_') + 1))

/** Lower bound of all ids of the kind created at or after `atMs` (Unix ms): ids begin with their time. */
export const minId = (kind: IdKind, atMs: number): string =>
  `${idPrefixes[kind]}_${encodeTime(Math.max(0, Math.floor(atMs)))}`

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

/** The `version` of a resource, which increases with each of its changes, from 1. */
export const ResourceVersion = z
  .int()
  .positive()
  .meta({ description: 'Version number, also returned as the `ETag`. Send it as `If-Match`.' })
