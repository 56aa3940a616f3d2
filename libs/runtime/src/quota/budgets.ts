import { limitReached } from './exceeded.js'
import type { LimitName, Limits } from './limits.js'

/** Wanted of one budget, in all, by this replica. */
export interface LeaseRequest {
  name: LimitName
  holder: string
  wanted: number
  /** Of all replicas together. */
  most: number
  /** How long a lease holds; of a window, its length. */
  ms: number
  /** Leases end with the window, as the authority's clock has it. */
  windowed: boolean
}

/** `granted` is at most what was wanted; it ends after `forMs`. In the order of the asks. */
export type GrantLeases = (asks: LeaseRequest[]) => Promise<{ granted: number; forMs: number }[]>

/** Who counts: a workspace, or one of its keys. */
interface Holder {
  workspaceId: string
  /** The workspace unless given. */
  key?: string
}

/** Usage counted over all replicas, without a call per request. More than a whole limit counts as all of it. */
export interface Budgets {
  /** Spends of a budget per minute or day. Throws `rate_limited`. */
  spend(name: WindowLimit, holder: Holder, amount: number): void
  /** The same; false where it is too much. */
  fits(name: WindowLimit, holder: Holder, amount: number): boolean
  /** Takes of a budget until what it returns is called. Throws `rate_limited`. */
  reserve(name: HeldLimit, holder: Holder, amount: number): () => void
}

const windows = {
  workspaceRequestsPerMinute: 60_000,
  egressBytesPerMinute: 60_000,
  topicBytesPerMinute: 60_000,
  topicBytesPerDay: 86_400_000,
  traceBytesPerDay: 86_400_000,
}
type WindowLimit = keyof typeof windows
type HeldLimit =
  | 'openPolls'
  | 'openPollsPerKey'
  | 'requestsInFlight'
  | 'requestsInFlightPerKey'
  | 'requestBytesInFlight'

interface BudgetsOptions {
  limits: Limits
  /** Grants leases from the count of all replicas. Absent where there is one replica only. */
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
  /** When the lease, or the window, is over: monotonic milliseconds. */
  until: number
  /** The last answer was less than what was wanted. */
  short: boolean
  askAt: number
  asking: boolean
}

/** Of a limit: what a replica may use without a lease, and what it leases at a time. */
const blocks = 20
const heldLeaseMs = 30_000
const askAgainMs = 1_000

/**
 * Each replica has a twentieth of a limit for itself and leases what is beyond in blocks, ahead of need: together they
 * stay within the limit and a twentieth for each replica. While no leases can be granted, each replica keeps to
 * the limit by itself.
 */
export function createBudgets({ limits, grant, monotonicMs }: BudgetsOptions): Budgets {
  /** Those used longest ago come first. */
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

  const take = (account: Account, amount: number): boolean => {
    const { max, used, granted } = account
    const free = Math.ceil(max / blocks)
    const room = Math.min(max, free + granted)
    const fits = used + amount <= room || (!account.short && used + amount <= max)
    if (fits) account.used += amount
    // Asked for before it is needed; and again after a while where there was not enough.
    if (account.granted < max && account.used + amount + free / 2 > room) want(account)
    else if (isEnding(account, free)) want(account)
    return fits
  }

  const takeOrThrow = (account: Account, amount: number) => {
    if (!take(account, amount)) throw limitReached(account.name, account.max, retryAfter(account))
  }

  /** A window ends for all; what is held goes on, and its lease with it. */
  const isEnding = ({ windowMs, used, until }: Account, free: number) =>
    windowMs === undefined && used > free && until - monotonicMs() < heldLeaseMs / 2

  const retryAfter = ({ windowMs, until }: Account) =>
    windowMs === undefined ? 1 : (until - monotonicMs()) / 1_000

  const want = (account: Account) => {
    if (!grant || account.asking || monotonicMs() < account.askAt) return
    account.asking = true
    if (wanting.push(account) === 1) setImmediate(() => void ask(grant))
  }

  const ask = async (from: GrantLeases) => {
    const asked = wanting
    wanting = []
    const asks = asked.map(askOf)
    const answers = await from(asks).catch(() => undefined)
    const now = monotonicMs()
    asked.forEach((account, at) => {
      const answer = answers?.[at]
      account.asking = false
      account.askAt = now + (answer ? 0 : askAgainMs)
      if (!answer) return
      account.short = answer.granted < (asks[at]?.wanted ?? 0)
      account.granted = answer.granted
      account.until = now + answer.forMs
      if (account.short) account.askAt = now + askAgainMs
    })
  }

  return {
    spend(name, holder, amount) {
      const max = limits.of(name, holder.workspaceId)
      if (max > 0) takeOrThrow(accountOf(name, holder, max), Math.min(amount, max))
    },
    fits(name, holder, amount) {
      const max = limits.of(name, holder.workspaceId)
      return max === 0 || take(accountOf(name, holder, max), Math.min(amount, max))
    },
    reserve(name, holder, amount) {
      const max = limits.of(name, holder.workspaceId)
      if (max === 0) return () => undefined
      const account = accountOf(name, holder, max)
      const held = Math.min(amount, max)
      takeOrThrow(account, held)
      let released = false
      return () => {
        if (released) return
        released = true
        account.used -= held
      }
    },
  }
}

/** A new window starts; reservations stay, without a lease until there is a new one. */
function renew(account: Account, now: number): void {
  if (account.windowMs !== undefined) account.used = 0
  account.granted = 0
  account.short = false
  account.until = now + (account.windowMs ?? heldLeaseMs)
}

function askOf({ name, holder, max, windowMs, used }: Account): LeaseRequest {
  const wanted = Math.min(max, used + Math.ceil((2 * max) / blocks))
  return { name, holder, wanted, most: max, ms: windowMs ?? heldLeaseMs, windowed: windowMs !== undefined }
}

/** Two with each new one, if they are over. What is held is counted by its account until it is released. */
function forgetIdle(accounts: Map<string, Account>, now: number): void {
  let looks = 2
  for (const [id, account] of accounts) {
    if (looks-- === 0 || account.until > now) return
    accounts.delete(id)
    if (account.windowMs === undefined && account.used > 0) accounts.set(id, account)
  }
}
