import { mailboxDomain, parseMailbox } from '@opsplane/contracts'
import { oneLine } from '@opsplane/runtime'
import type { Transporter } from 'nodemailer'
import { readSmtpUrl } from './smtp-settings.js'

/** A plain text mail to one person. */
export interface Mail {
  /** Names the mail: the same id makes the same Message-ID, by which a repetition is recognised. */
  id: string
  to: string
  subject: string
  text: string
}

export interface Mailer {
  /** Resolves once the mail server has taken the mail. Throws when it has not, or `signal` aborts first. */
  send(mail: Mail, signal: AbortSignal): Promise<void>
}

export interface MailerConfig {
  smtpUrl?: string | undefined
  smtpFrom?: string | undefined
}

/** Null without SMTP settings: then no mail is sent. One connection per mail, closed when its signal aborts. */
export function createMailer({ smtpUrl, smtpFrom }: MailerConfig): Mailer | null {
  const server = smtpUrl === undefined ? null : readSmtpUrl(smtpUrl)
  const from = smtpFrom === undefined ? null : parseMailbox(smtpFrom)
  if (server === null || from === null) return null
  let transport: Transporter | undefined
  const opened = async (): Promise<Transporter> => {
    // Loaded with the first mail, not with the service.
    const { createTransport } = await import('nodemailer')
    transport ??= createTransport({
      ...server,
      disableFileAccess: true,
      disableUrlAccess: true,
      socketCloseTimeout: 0,
    })
    return transport
  }
  const domain = mailboxDomain(from)
  return {
    async send({ id, to, subject, text }, signal) {
      const open = await opened()
      await open.sendMail({
        from,
        // An object, so that no address is ever read as a list of them.
        to: { name: '', address: to },
        subject: oneLine(subject),
        text,
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal,
      })
    },
  }
}
