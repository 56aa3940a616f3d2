import { invalidField, type Mailbox, parseMailbox } from '@opsplane/contracts'
import type { OutboundStreams } from '@opsplane/http'
import { oneLine } from '@opsplane/runtime'
import { z } from 'zod'
import { defineAction } from './action.js'
import { Certificates, Credential, plainText } from './credential.js'
import { type Call, defineKind, type Kind } from './kind.js'
import { createWithMailServer, type MailServer } from './smtp/mail-server.js'
import { computeMessageId } from './smtp/message-id.js'

/** `ada@example.com` or `Ada <ada@example.com>`. */
const Address = z
  .string()
  .max(320)
  .transform((text, context): Mailbox => {
    const found = parseMailbox(text)
    if (found) return found
    context.addIssue({ code: 'custom', message: 'must be ada@example.com or Ada <ada@example.com>' })
    return z.NEVER
  })
const AddressText = z
  .string()
  .max(320)
  .refine((text) => parseMailbox(text) !== null, 'must be ada@example.com or Ada <ada@example.com>')

const Config = z
  .strictObject({
    host: plainText(253).toLowerCase(),
    port: z.int().min(1).max(65_535).default(465),
    security: z
      .enum(['tls', 'starttls', 'none'])
      .default('tls')
      .meta({
        description:
          'Encryption of the connection: `tls` from the first byte, usually on port 465; `starttls`, usually on port ' +
          '587, aborts if the server does not support it.',
      }),
    ca: Certificates.optional(),
    user: plainText(320).optional(),
    password: Credential.optional(),
    from: AddressText.meta({ description: 'Sender of every mail.' }),
  })
  .superRefine(({ user, password }, context) => {
    if ((user === undefined) !== (password === undefined))
      context.addIssue({ code: 'custom', path: ['password'], message: 'goes together with user' })
  })
type Config = z.infer<typeof Config>

const maxRecipients = 100
const maxAttachments = 10
const maxAttachedBytes = 1_048_576

/** Headers set by the platform or by mail servers, which an input must not override. */
const ownHeaders =
  /^(?:from|sender|to|cc|bcc|reply-to|subject|date|message-id|mime-version|content-.*|received|return-path|delivered-to|dkim-.*|arc-.*|authentication-results|resent-.*)$/i

const Addresses = z
  .union([Address.transform((one) => [one]), z.array(Address).max(maxRecipients)])
  .default([])
const Attachment = z.strictObject({
  filename: plainText(200),
  contentType: z
    .string()
    .max(200)
    .regex(/^[\w.+-]+\/[\w.+-]+$/, 'must be a media type such as text/csv')
    .optional(),
  content: z.string().max(maxAttachedBytes * 2),
  encoding: z.enum(['utf8', 'base64']).default('utf8'),
})
const Message = z
  .strictObject({
    to: Addresses,
    cc: Addresses,
    bcc: Addresses,
    replyTo: Address.optional(),
    subject: z
      .string()
      .max(998)
      .transform(oneLine)
      .meta({ description: 'Subject of the mail. Line breaks are replaced by spaces.' }),
    text: z.string().max(maxAttachedBytes).optional(),
    html: z.string().max(maxAttachedBytes).optional(),
    headers: z
      .record(
        z
          .string()
          .regex(/^[A-Za-z0-9-]{1,76}$/, 'must be the name of a header')
          .refine((name) => !ownHeaders.test(name), 'must not be one the mail has by itself'),
        z.string().max(998).transform(oneLine),
      )
      .default({}),
    attachments: z.array(Attachment).max(maxAttachments).default([]),
  })
  .superRefine(({ to, cc, bcc, text, html, attachments }, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    const recipients = to.length + cc.length + bcc.length
    if (recipients === 0) refuse('to', 'must name a recipient, unless cc or bcc does')
    if (recipients > maxRecipients) refuse('to', `must not be more than ${maxRecipients} with cc and bcc`)
    if (text === undefined && html === undefined) refuse('text', 'must be there, unless html is')
    const bytes = attachments.reduce(
      (sum, { content, encoding }) => sum + Buffer.byteLength(content, encoding),
      0,
    )
    if (bytes > maxAttachedBytes)
      refuse('attachments', `must not be more than ${maxAttachedBytes} bytes in all`)
  })

const Sent = z.object({
  messageId: z.string().meta({
    description: 'Message id of the mail, which stays the same when the same invocation is repeated.',
  }),
  accepted: z.array(z.string()).meta({ description: 'Addresses for which the server accepted the mail.' }),
  rejected: z.array(z.object({ address: z.string(), message: z.string() })).meta({
    description:
      'Addresses the server rejected, each with its message; if the server rejects all addresses, nothing is sent.',
  }),
  response: z.string().meta({ description: 'Last response of the server.' }),
})

/** The kind for a mail server that sends messages. */
export function smtpKind(outbound: OutboundStreams): Kind {
  const using = createWithMailServer(outbound)
  return defineKind<Config>({
    name: 'smtp',
    title: 'Mail (SMTP)',
    description: 'Sends mail through a mail server.',
    config: Config,
    check({ host, port, security, password }) {
      outbound.checkTarget({ host, port }, '/config')
      if (password !== undefined && security === 'none' && !loopback.test(host))
        throw invalidField('/config/security', 'password_in_the_clear', 'Must be tls or starttls to log in.')
    },
    sendsTo: ({ host, password }) => [{ path: ['password'], value: password, host }],
    actions: {
      send: defineAction({
        title: 'Send',
        description: 'Sends one mail.',
        input: Message,
        output: Sent,
        repeatable: false,
        run: async (call: Call<Config>, { attachments, ...mail }) => {
          const from = senderOf(call.config)
          const id = computeMessageId(call, from)
          const files = attachments.map(({ content, encoding, ...file }) => ({
            ...file,
            content: Buffer.from(content, encoding),
          }))
          return using(call, await serverOf(call), (server) =>
            server.send({ ...mail, from, messageId: id, attachments: files }),
          )
        },
      }),
    },
    test: async (call) =>
      using(call, await serverOf(call), async (server) => {
        await server.greet()
        const { user, host } = call.config
        return user === undefined ? `${host} takes mail without a login.` : `${host} lets ${user} send mail.`
      }),
  })
}

const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/

/** Cannot fail: the schema has parsed the address before. */
const senderOf = ({ from }: Config): Mailbox => parseMailbox(from) ?? { name: '', address: from }

async function serverOf({ config, secrets }: Call<Config>): Promise<MailServer> {
  const { host, port, security, ca, user, password } = config
  const server = { host, port, security, ca, from: senderOf(config) }
  if (user === undefined || password === undefined) return server
  return { ...server, auth: { user, pass: await secrets.fill(password, host) } }
}
