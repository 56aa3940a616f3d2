import type { Delivery, DeliveryAttempt, DeliveryDetail } from '@opsplane/contracts'
import type { Column } from '../table.js'

/** Includes the webhook column if the list covers several webhooks. */
export function deliveryColumns(withWebhook: boolean): Column<Delivery>[] {
  const webhook: Column<Delivery> = { title: 'webhook', value: ({ webhookId }) => webhookId }
  return [
    { title: 'id', value: ({ id }) => id },
    ...(withWebhook ? [webhook] : []),
    { title: 'status', value: ({ status }) => status },
    { title: 'event type', value: ({ eventType }) => eventType, elastic: true },
    { title: 'created', value: ({ createdAt }) => createdAt },
    { title: 'attempts', value: ({ attempts }) => attempts },
    { title: 'last answer', value: lastAnswer, elastic: true },
    { title: 'next attempt', value: ({ nextAttemptAt }) => nextAttemptAt },
  ]
}

function lastAnswer({ lastResponseStatus: status, lastError: error, lastDurationMs: ms }: Delivery) {
  if (status !== null) return `${status} in ${ms ?? 0} ms`
  return error && `${error.kind}: ${error.message}`
}

/** A delivery and all its attempts as readable text. */
export function deliveryLines(detail: DeliveryDetail): string[] {
  const { id, webhookId, eventId, eventType, status, createdAt, nextAttemptAt, replayOf, url } = detail
  return [
    `delivery  ${id}`,
    `webhook   ${webhookId}`,
    `event     ${eventId} ${eventType}`,
    `url       ${url}`,
    `status    ${status}${nextAttemptAt ? `, next attempt ${nextAttemptAt}` : ''}`,
    `created   ${createdAt}`,
    ...(replayOf ? [`replay of ${replayOf}`] : []),
    ...detail.attemptLog.flatMap(attemptLines),
  ]
}

function attemptLines({
  number,
  startedAt,
  durationMs,
  url,
  requestHeaders,
  response,
  error,
}: DeliveryAttempt) {
  return [
    '',
    `attempt ${number}  ${startedAt}  ${response ? response.status : 'no answer'} in ${durationMs} ms`,
    ...(error ? [`  ! ${error.kind}: ${error.message}`] : []),
    `  > POST ${url}`,
    ...headerLines('>', requestHeaders),
    ...(response ? [`  < ${response.status}`, ...headerLines('<', response.headers)] : []),
    ...(response && response.body !== '' ? bodyLines(response) : []),
  ]
}

const headerLines = (mark: string, headers: Record<string, string>) =>
  Object.entries(headers).map(([name, value]) => `  ${mark} ${name}: ${value}`)

const bodyLines = ({ body, truncated }: { body: string; truncated: boolean }) => [
  ...body.split(/\r?\n/).map((line) => `  | ${line}`),
  ...(truncated ? ['  | … (the rest was not kept)'] : []),
]
