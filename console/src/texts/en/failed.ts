export const failed = {
  title: 'Failed now',
  deliveries: 'Deliveries',
  runs: 'Runs',
  executions: 'Executions',
  countOf: (count: number, more: boolean) => (more ? `${count}+` : String(count)),
  none: {
    deliveries: 'No delivery is failed.',
    runs: 'No run has failed.',
    executions: 'No execution has failed.',
  },
  last: 'Last',
  first: 'first',
  spread: 'When they failed, from the first to now',
  retryAll: (count: number) => `Retry ${count}`,
  retryingAll: (done: number, count: number) => `${done} of ${count} sent again`,
  retriedAll: (count: number) =>
    count === 1 ? '1 delivery was sent again.' : `${count} deliveries were sent again.`,
  heldAll: (count: number) =>
    count === 1 ? '1 waits until its webhook is resumed.' : `${count} wait until their webhook is resumed.`,
  refusedAll: (count: number) => (count === 1 ? '1 could not be retried.' : `${count} could not be retried.`),
  paused: 'paused',
} as const
