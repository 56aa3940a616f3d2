export const failed = {
  title: 'Failed now',
  deliveries: 'Deliveries',
  runs: 'Runs',
  executions: 'Executions',
  countOf: (count: number, more: boolean) => (more ? `${count}+` : String(count)),
  none: {
    deliveries: 'No failed deliveries.',
    runs: 'No failed runs.',
    executions: 'No failed executions.',
  },
  last: 'Last',
  first: 'first',
  span: 'From the first failure to the last, on the way to now',
  retryAll: (count: number) => `Retry ${count}`,
  retryHint: (count: number, name: string) =>
    `Retries the ${count === 1 ? 'one failure' : `${count} failures`} of ${name} that are counted here, and none that come later`,
  progress: (name: string) => `Progress of the retry of ${name}`,
  of: (done: number, total: number) => `${done} of ${total}`,
  cancel: 'Cancel the rest',
  retried: (done: number, refused: number, name: string) =>
    `${done === 1 ? '1 failure' : `${done} failures`} of ${name} retried.${refused > 0 ? ` ${refused} could not be.` : ''}`,
  paused: 'paused',
} as const
