import { mailboxDomain, parseMailbox } from '@opsplane/contracts'
import { oneLine } from '@opsplane/runtime'
import type { Transporter } from 'nodemailer'
import { readSmtpUrl } from './smtp-settings.js'

/** A plain text mail to one person. */
export interface Mail {
  /** Identifies the mail: the same id yields the same Message-ID, by which servers recognise duplicates. */
  id: string
  to: string
  subject: string
  text: string
}

export interface Mailer {
  /** Resolves once the mail server has accepted the mail. Throws if it rejects the mail, or if `signal` aborts first. */
  send(mail: Mail, signal: AbortSignal): Promise<void>
}

export interface MailerConfig {
  smtpUrl?: string | undefined
  smtpFrom?: string | undefined
}

/** `null` without SMTP settings: no mail is sent then. Uses one connection per mail, closed when its signal aborts. */
export function createMailer({ smtpUrl, smtpFrom }: MailerConfig): Mailer | null {
  const server = smtpUrl === undefined ? null : readSmtpUrl(smtpUrl)
  const from = smtpFrom === undefined ? null : parseMailbox(smtpFrom)
  if (server === null || from === null) return null
  let transport: Transporter | undefined
  const openTransport = async (): Promise<Transporter> => {
    // Loaded with the first mail, not at startup.
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
      const open = await openTransport()
      await open.sendMail({
        from,
        // An object, so that an address is never parsed as a list of addresses.
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
