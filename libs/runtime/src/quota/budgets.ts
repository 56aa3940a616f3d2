import { limitReached } from './exceeded.js'
import type { LimitName, Limits } from './limits.js'

/** The total amount of one budget that this replica requests. */
export interface LeaseRequest {
  name: LimitName
  holder: string
  wanted: number
  /** The limit for all replicas together. */
  most: number
  /** Duration of a lease; for a window, its length. */
  ms: number
  /** Leases end with the window, by the authority's clock. */
  windowed: boolean
}

/** `granted` is at most the requested amount, and ends after `forMs`. Results are in the order of the requests. */
export type GrantLeases = (requests: LeaseRequest[]) => Promise<{ granted: number; forMs: number }[]>

/** The holder of a budget: a workspace, or one of its keys. */
interface Holder {
  workspaceId: string
  /** The workspace itself if absent. */
  key?: string
}

/**
 * Usage counted across all replicas, without a call per request. An amount above the whole limit counts as the
 * limit.
 */
export interface Budgets {
  /** Spends from a budget per minute or day. Throws `rate_limited`. */
  spend(name: WindowLimit, holder: Holder, amount: number): void
  /** Like `spend`, but returns `false` if the amount exceeds the budget. */
  fits(name: WindowLimit, holder: Holder, amount: number): boolean
  /** Reserves a part of a budget until the returned function is called. Throws `rate_limited`. */
  reserve(name: ConcurrencyLimit, holder: Holder, amount: number): () => void
}

const windows = {
  workspaceRequestsPerMinute: 60_000,
  egressBytesPerMinute: 60_000,
  topicBytesPerMinute: 60_000,
  topicBytesPerDay: 86_400_000,
  traceBytesPerDay: 86_400_000,
}
type WindowLimit = keyof typeof windows
type ConcurrencyLimit =
  | 'openPolls'
  | 'openPollsPerKey'
  | 'requestsInFlight'
  | 'requestsInFlightPerKey'
  | 'requestBytesInFlight'

interface BudgetsOptions {
  limits: Limits
  /** Grants leases from the count across all replicas. Absent if there is only one replica. */
  grant?: GrantLeases
  monotonicMs: () => number
}

interface Account {
  name: LimitName
  holder: string
  max: number
  windowMs: number | undefined
  used: number
  granted: number
  /** End of the lease or window, in monotonic milliseconds. */
  until: number
  /** The last grant was less than requested. */
  short: boolean
  askAt: number
  asking: boolean
}

/** Divides a limit into the part a replica may use without a lease and the blocks it leases. */
const blocks = 20
const reservationMs = 30_000
const retryMs = 1_000

/**
 * Each replica may use a twentieth of a limit without a lease, and leases more in blocks, ahead of need: together
 * the replicas stay within the limit plus a twentieth for each replica. While no leases can be granted, each
 * replica applies the limit on its own.
 */
export function createBudgets({ limits, grant, monotonicMs }: BudgetsOptions): Budgets {
  /** Least recently used first. */
  const accounts = new Map<string, Account>()
  let wanting: Account[] = []

  const accountOf = (name: LimitName, { workspaceId, key = workspaceId }: Holder, max: number): Account => {
    const id = `${name} ${key}`
    const now = monotonicMs()
    const known = accounts.get(id)
    if (known) {
      accounts.delete(id)
      accounts.set(id, known)
      known.max = max
      if (now >= known.until) renew(known, now)
      return known
    }
    forgetIdle(accounts, now)
    const windowMs = name in windows ? windows[name as WindowLimit] : undefined
    const fresh = {
      name,
      holder: key,
      max,
      windowMs,
      used: 0,
      granted: 0,
      until: now,
      short: false,
      askAt: now,
      asking: false,
    }
    renew(fresh, now)
    accounts.set(id, fresh)
    return fresh
  }

  const trySpend = (account: Account, amount: number): boolean => {
    const { max, used, granted } = account
    const free = Math.ceil(max / blocks)
    const room = Math.min(max, free + granted)
    const fits = used + amount <= room || (!account.short && used + amount <= max)
    if (fits) account.used += amount
    // Requests a lease before it is needed, and again after a while if the last grant was too small.
    if (account.granted < max && account.used + amount + free / 2 > room) want(account)
    else if (isEnding(account, free)) want(account)
    return fits
  }

  const spendOrThrow = (account: Account, amount: number) => {
    if (!trySpend(account, amount)) throw limitReached(account.name, account.max, retryAfter(account))
  }

  /** A window ends for all; a reservation continues, so its lease must be renewed. */
  const isEnding = ({ windowMs, used, until }: Account, free: number) =>
    windowMs === undefined && used > free && until - monotonicMs() < reservationMs / 2

  const retryAfter = ({ windowMs, until }: Account) =>
    windowMs === undefined ? 1 : (until - monotonicMs()) / 1_000

  const want = (account: Account) => {
    if (!grant || account.asking || monotonicMs() < account.askAt) return
    account.asking = true
    if (wanting.push(account) === 1) setImmediate(() => void requestLeases(grant))
  }

  const requestLeases = async (from: GrantLeases) => {
    const requestingAccounts = wanting
    wanting = []
    const requests = requestingAccounts.map(toLeaseRequest)
    const answers = await from(requests).catch(() => undefined)
    const now = monotonicMs()
    requestingAccounts.forEach((account, at) => {
      const answer = answers?.[at]
      account.asking = false
      account.askAt = now + (answer ? 0 : retryMs)
      if (!answer) return
      account.short = answer.granted < (requests[at]?.wanted ?? 0)
      account.granted = answer.granted
      account.until = now + answer.forMs
      if (account.short) account.askAt = now + retryMs
    })
  }

  return {
    spend(name, holder, amount) {
      const max = limits.of(name, holder.workspaceId)
      if (max > 0) spendOrThrow(accountOf(name, holder, max), Math.min(amount, max))
    },
    fits(name, holder, amount) {
      const max = limits.of(name, holder.workspaceId)
      return max === 0 || trySpend(accountOf(name, holder, max), Math.min(amount, max))
    },
    reserve(name, holder, amount) {
      const max = limits.of(name, holder.workspaceId)
      if (max === 0) return () => undefined
      const account = accountOf(name, holder, max)
      const reservedAmount = Math.min(amount, max)
      spendOrThrow(account, reservedAmount)
      let released = false
      return () => {
        if (released) return
        released = true
        account.used -= reservedAmount
      }
    },
  }
}

/** Starts a new window; reservations remain, without a lease until there is a new one. */
function renew(account: Account, now: number): void {
  if (account.windowMs !== undefined) account.used = 0
  account.granted = 0
  account.short = false
  account.until = now + (account.windowMs ?? reservationMs)
}

function toLeaseRequest({ name, holder, max, windowMs, used }: Account): LeaseRequest {
  const wanted = Math.min(max, used + Math.ceil((2 * max) / blocks))
  return { name, holder, wanted, most: max, ms: windowMs ?? reservationMs, windowed: windowMs !== undefined }
}

/**
 * Checks two accounts for each new one, and deletes them if they have ended. Accounts with reservations are kept
 * until these are released.
 */
function forgetIdle(accounts: Map<string, Account>, now: number): void {
  let remainingChecks = 2
  for (const [id, account] of accounts) {
    if (remainingChecks-- === 0 || account.until > now) return
    accounts.delete(id)
    if (account.windowMs === undefined && account.used > 0) accounts.set(id, account)
  }
}
