import type { Database } from '@opsplane/postgres'
import { delay, type Logger } from '@opsplane/runtime'
import type { ComposeMail } from './compose.js'
import { type ClaimedMail, claimMails, giveBackMail, settleMail } from './mail-queue.js'
import { afterFailure } from './mail-retry.js'
import type { Mailer } from './mailer.js'
import { oneLine } from './one-line.js'

export interface MailSendingOptions {
  database: Pick<Database, 'db'>
  mailer: Mailer
  compose: ComposeMail
  log: Logger
  nowMs(): number
}

const atOnce = 5
/** For one mail, from the connection to the server's last word. */
const deadlineMs = 30_000
/** Longer than an attempt can take, so that only a dead replica's mails are taken over. */
export const leaseMs = 60_000
const lookEveryMs = 1_000

/** Sends the mails that are due, at least once each, sharing the work with other replicas by leases. */
export function startMailSending({ database: { db }, mailer, compose, log, nowMs }: MailSendingOptions) {
  const closing = new AbortController()
  const cutting = new AbortController()
  let failing = false

  const attempt = async (claimed: ClaimedMail): Promise<void> => {
    const { id, userId, attempts, giveUpAt } = claimed
    try {
      await mailer.send(
        await compose(claimed),
        AbortSignal.any([cutting.signal, AbortSignal.timeout(deadlineMs)]),
      )
    } catch (error) {
      if (cutting.signal.aborted) return giveBackMail(db, claimed, nowMs())
      const outcome = afterFailure(attempts, giveUpAt, nowMs())
      const lastError = reasonOf(error)
      const about = { mailId: id, userId, attempts, reason: lastError }
      if (outcome.status === 'failed') log.error(about, givenUp)
      else if (attempts === 1) log.warn(about, 'a mail was not sent and is tried again')
      return settleMail(db, claimed, { ...outcome, lastError })
    }
    await settleMail(db, claimed, { status: 'sent', lastError: null })
  }

  /** How many mails were due, at most `atOnce`. */
  const round = async (): Promise<number> => {
    try {
      const claimed = await claimMails(db, { nowMs: nowMs(), leaseMs, limit: atOnce })
      // Every attempt ends before anything else is done, also when one cannot be settled.
      const ended = await Promise.allSettled(claimed.map(attempt))
      for (const result of ended) if (result.status === 'rejected') throw result.reason
      failing = false
      return claimed.length
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'mails to send cannot be read or settled')
      failing = true
      return 0
    }
  }

  const run = async () => {
    while (!closing.signal.aborted) {
      if ((await round()) < atOnce) await delay(lookEveryMs, closing.signal)
    }
  }
  const running = run()
  return {
    /** Mails under way have `graceMs` to end in; then they are cut and given back. */
    async close(graceMs = 5_000): Promise<void> {
      closing.abort()
      const cut = setTimeout(() => cutting.abort(), graceMs)
      await running
      clearTimeout(cut)
    },
  }
}

const givenUp =
  'a mail was given up: check SMTP_URL, and that the server takes mail from SMTP_FROM to this user; a ' +
  'notification stays readable at /notifications, and an invitation can be sent anew'

/** The server's words, short enough to keep. */
function reasonOf(error: unknown): string {
  return oneLine(error instanceof Error ? error.message : String(error)).slice(0, 500)
}
