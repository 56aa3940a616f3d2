export const deliveries = {
  title: 'Deliveries',
  webhook: 'Webhook',
  allWebhooks: 'All webhooks',
  eventType: 'Event type',
  event: 'Event',
  endpoint: 'Endpoint',
  outcome: 'Outcome',
  attempts: 'Attempts',
  when: 'When',
  state: 'State',
  empty: 'Nothing has been delivered yet',
  emptyHelp:
    'A webhook gets every event it subscribes to, signed and in order. Create one, then do anything.',
  emptyFiltered: 'No delivery matches these filters',
  select: 'Select a delivery to see what was sent and what came back',
  retry: 'Retry',
  retryHint: 'Retry starts a new cycle of attempts of this delivery.',
  replay: 'Replay',
  replayHint: 'Replay makes a new delivery of the same event, with an id of its own.',
  retried: 'Sent again',
  onItsWay: 'It is still on its way.',
  replaying: 'A replay is on its way.',
  request: 'Request',
  response: 'Response',
  headers: 'Headers',
  body: 'Body',
  noResponse: 'No response',
  noAttempt: 'No attempt yet',
  attempt: (number: number) => `Attempt ${number}`,
  attemptSeries: 'Attempts',
  phases: {
    dns: 'DNS',
    connect: 'Connect',
    tls: 'TLS',
    firstByte: 'First byte',
    body: 'Body',
    rest: 'No answer',
  },
  reused: 'Connection reused',
  facts: {
    id: 'Delivery',
    event: 'Event',
    webhook: 'Webhook',
    url: 'URL',
    created: 'Created',
    next: 'Next attempt',
    replayOf: 'Replay of',
    replays: 'Replays',
    duration: 'Last attempt took',
  },
  replaysInAll: (count: number) => `${count} in all`,
  story: {
    succeeded: (attempts: number, status: number | null) =>
      attempts > 1
        ? `Delivered at attempt ${attempts}: the endpoint answered ${status ?? 'with success'}.`
        : `Delivered at once: the endpoint answered ${status ?? 'with success'}.`,
    failed: (attempts: number, cause: string) =>
      attempts === 0
        ? `Not sent: ${cause.toLowerCase()}.`
        : attempts === 1
          ? `${cause} at the only attempt. No more are due.`
          : `${cause} at the last of ${attempts} attempts. No more are due.`,
    retrying: (attempts: number, cause: string, next: string | undefined) =>
      `${cause} at attempt ${attempts}. ${next === undefined ? 'The next one waits for deliveries before it.' : `The next one is due ${next}.`}`,
    pending: 'Waiting for its first attempt.',
    again: 'On its way again.',
    held: 'Held, as its webhook is paused. It goes out once that is resumed.',
  },
} as const
