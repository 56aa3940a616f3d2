import { hostOfUrl, invalidField } from '@opsplane/contracts'
import type { OutboundResponse } from '@opsplane/http'
import { z } from 'zod'
import { defineAction } from './action.js'
import { CallFailure } from './call-failure.js'
import { Credential } from './credential.js'
import { answeredFailure, type SendHttp } from './http-calls.js'
import { type Call, defineKind, type Kind } from './kind.js'

const SlackConfig = z.strictObject({
  auth: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('webhook'),
      url: Credential.meta({
        description: 'URL of an incoming webhook, or its path, as a reference to a secret.',
      }),
      origin: z.string().max(2_048).default('https://hooks.slack.com'),
    }),
    z.strictObject({
      type: z.literal('bot'),
      token: Credential,
      apiUrl: z.string().max(2_048).default('https://slack.com/api'),
    }),
  ]),
  channel: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'Default channel for messages of a bot.' }),
})
type SlackConfig = z.output<typeof SlackConfig>

const Blocks = z.array(z.record(z.string(), z.unknown())).max(50)
const content = { text: z.string().min(1).max(40_000).optional(), blocks: Blocks.optional() }
const hasContent = ({ text, blocks }: { text?: string | undefined; blocks?: unknown[] | undefined }) =>
  text !== undefined || blocks !== undefined
const Channel = z.string().min(1).max(200)
const NewMessage = z
  .strictObject({
    channel: Channel.optional(),
    ...content,
    threadTs: z.string().max(100).optional(),
    username: z.string().max(100).optional(),
    iconEmoji: z.string().max(100).optional(),
  })
  .refine(hasContent, { message: 'must have text or blocks', path: ['text'] })
const MessageChange = z
  .strictObject({ channel: Channel, ts: z.string().max(100), ...content })
  .refine(hasContent, { message: 'must have text or blocks', path: ['text'] })
const MessageRef = z.strictObject({ channel: Channel, ts: z.string().max(100) })

const Message = z.object({
  channel: z
    .string()
    .nullable()
    .meta({ description: 'Id of the channel; `null` for an incoming webhook, which does not return it.' }),
  ts: z
    .string()
    .nullable()
    .meta({
      description:
        'Timestamp that identifies the message in order to update it or reply in its thread; `null` for an incoming ' +
        'webhook.',
    }),
})
type Message = z.output<typeof Message>

const SlackAnswer = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  channel: z.string().optional(),
  ts: z.string().optional(),
})

export interface SlackKindOptions {
  send: SendHttp
  checkUrl(url: string, path: string): void
}

/** The kind for messages to Slack, by an incoming webhook or as a bot. */
export function slackKind({ send, checkUrl }: SlackKindOptions): Kind {
  const post = async (call: Call, url: URL, token: string | undefined, body: object, repeatable: boolean) =>
    send(call, {
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
      repeatable,
    })

  const callApi = async (
    call: Call<SlackConfig>,
    method: string,
    body: object,
    repeatable = false,
  ): Promise<Message> => {
    const { auth } = call.config
    if (auth.type !== 'bot')
      throw invalidField('/action', 'not_with_webhook', 'An incoming webhook only takes new messages.')
    const token = await call.secrets.fill(auth.token, hostOfUrl(auth.apiUrl))
    const url = new URL(`${auth.apiUrl.replace(/\/$/, '')}/${method}`)
    return messageOf(await post(call, url, token, body, repeatable))
  }

  return defineKind<SlackConfig>({
    name: 'slack',
    title: 'Slack',
    description: 'Messages to Slack, through an incoming webhook or as a bot.',
    config: SlackConfig,
    check: ({ auth }) =>
      auth.type === 'bot'
        ? checkUrl(auth.apiUrl, '/config/auth/apiUrl')
        : checkUrl(auth.origin, '/config/auth/origin'),
    sendsTo: ({ auth }) => [
      { path: ['auth'], value: auth, host: hostOfUrl(auth.type === 'bot' ? auth.apiUrl : auth.origin) },
    ],
    actions: {
      post_message: defineAction<SlackConfig, typeof NewMessage, typeof Message>({
        title: 'Post a message',
        description: 'Posts a message to a channel or to a thread in a channel.',
        input: NewMessage,
        output: Message,
        repeatable: false,
        async run(call, { channel = call.config.channel, threadTs, iconEmoji, ...rest }) {
          const message = {
            ...rest,
            ...(threadTs !== undefined && { thread_ts: threadTs }),
            ...(iconEmoji !== undefined && { icon_emoji: iconEmoji }),
          }
          if (call.config.auth.type === 'webhook') {
            const answer = await post(call, await webhookUrl(call), undefined, message, false)
            if (answer.status >= 300) throw answeredFailure(answer)
            return { channel: null, ts: null }
          }
          if (channel === undefined)
            throw invalidField(
              '/input/channel',
              'required',
              'Name a channel: the connector has none of its own.',
            )
          return callApi(call, 'chat.postMessage', { ...message, channel })
        },
      }),
      update_message: defineAction<SlackConfig, typeof MessageChange, typeof Message>({
        title: 'Update a message',
        description: 'Updates a message that the bot has posted.',
        input: MessageChange,
        output: Message,
        repeatable: true,
        run: (call, input) => callApi(call, 'chat.update', input, true),
      }),
      delete_message: defineAction<SlackConfig, typeof MessageRef, typeof Message>({
        title: 'Delete a message',
        description: 'Deletes a message that the bot has posted.',
        input: MessageRef,
        output: Message,
        repeatable: true,
        run: (call, input) => callApi(call, 'chat.delete', input, true),
      }),
    },
    async test(call) {
      if (call.config.auth.type === 'bot') {
        await callApi(call, 'auth.test', {}, true)
        return 'Slack knows the token.'
      }
      // An empty message posts nothing: an existing webhook rejects it as invalid with 400.
      const answer = await post(call, await webhookUrl(call), undefined, {}, true)
      if (answer.status !== 400) throw answeredFailure(answer)
      return 'Slack knows the webhook.'
    },
  })
}

/**
 * The secret is the whole URL or its path. The host comes from the configuration, because the secret was resolved for
 * it.
 */
async function webhookUrl({ config: { auth }, secrets }: Call<SlackConfig>): Promise<URL> {
  if (auth.type !== 'webhook') throw new Error('it has no webhook')
  const { origin } = new URL(auth.origin)
  const text = await secrets.fill(auth.url, hostOfUrl(auth.origin))
  const url = URL.canParse(text, origin) ? new URL(text, origin) : undefined
  if (url?.origin === origin) return url
  throw new CallFailure('secret', `The secret is not the URL of a webhook at ${origin}.`, { sent: false })
}

/** Slack also responds with 200 to rejected messages. */
function messageOf(answer: OutboundResponse): Message {
  if (answer.status >= 400) throw answeredFailure(answer)
  const text = answer.body.toString()
  const parsed = SlackAnswer.safeParse(jsonOf(text))
  if (!parsed.success)
    throw new CallFailure('protocol', 'Slack gave an answer that is not understood.', { sent: true })
  const { ok, error = 'unknown', channel = null, ts = null } = parsed.data
  if (ok) return { channel, ts }
  throw new CallFailure('answered', `Slack refused: ${error}.`, {
    ...{ sent: true, status: answer.status, body: text.slice(0, 4_096) },
  })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
