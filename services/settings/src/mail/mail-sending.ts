import { type Database, leasedWorker } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { oneLine } from '@opsplane/runtime'
import { dueMails } from '../schema.js'
import type { ComposeMail } from './compose.js'
import { type ClaimedMail, expireMails, mailColumns, markSent, readMailContent } from './mail-queue.js'
import type { Mailer } from './mailer.js'

export interface MailSendingOptions {
  database: Pick<Database, 'sql'>
  mailer: Mailer
  compose: ComposeMail
  log: Logger
}

/**
 * Sends due mails, at least once each. Retries after 30 s, 1 min, 2 min, … at most an hour apart, until the mail is
 * given up.
 */
export const mailSending = ({ database: { sql }, mailer, compose, log }: MailSendingOptions) =>
  leasedWorker<ClaimedMail, undefined>({
    name: 'mails',
    of: dueMails,
    columns: mailColumns,
    batch: 5,
    // For the whole conversation with the server.
    deadlineMs: 30_000,
    retry: { baseMs: 30_000, maxMs: 3_600_000 },
    async perform([mail], signal) {
      if (!mail) return []
      const { key: id, email } = mail
      try {
        const composed = await compose({ id, email, content: await readMailContent(sql, mail) })
        if (composed !== null) await mailer.send(composed, signal)
      } catch (cause) {
        // The server's message, short enough to store.
        throw new Error(oneLine(cause instanceof Error ? cause.message : String(cause)), { cause })
      }
      return [undefined]
    },
    done: (tx, finished) =>
      markSent(
        tx,
        finished.map(({ row }) => row),
      ),
    async failed(tx, rows) {
      const ended = await expireMails(
        tx,
        rows.map(({ row }) => row),
      )
      for (const about of ended) log.error(about, expiredMessage)
    },
  })

const expiredMessage =
  'a mail was given up: check SMTP_URL, and that the server takes mail from SMTP_FROM to this user; a ' +
  'notification stays readable at /notifications, and an invitation can be sent again'
