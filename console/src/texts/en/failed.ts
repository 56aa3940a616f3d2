export const failedNow = {
  title: 'Failed now',
  deliveries: 'Deliveries',
  runs: 'Runs',
  executions: 'Executions',
  deadLetters: 'Dead letters',
  countOf: (count: number, more: boolean) => `${count.toLocaleString('en')}${more ? '+' : ''}`,
  none: {
    deliveries: 'No failed deliveries.',
    runs: 'No failed runs.',
    executions: 'No failed executions.',
    deadLetters: 'No dead letters.',
  },
  last: 'Last failed',
  first: 'first',
  retryAll: (count: number) => `Retry ${count.toLocaleString('en')}`,
  retryHint: (count: number, name: string) =>
    `Retries the ${count === 1 ? 'one failure' : `${count} failures`} of ${name} that are counted here, and none that come later`,
  progress: (name: string) => `Progress of the retry of ${name}`,
  of: (done: number, total: number) => `${done} of ${total}`,
  cancel: 'Cancel the rest',
  retried: (done: number, refused: number, name: string) =>
    `${done === 1 ? '1 failure' : `${done} failures`} of ${name} retried.${refused > 0 ? ` ${refused} could not be.` : ''}`,
  paused: 'paused',
  unknownCause: 'Unknown cause',
  letterCause: (code: string) => `Given up: ${code.replaceAll('_', ' ')}`,
  forOperators: 'for operators',
  operatorHelp: 'An operator of the installation mends the cause and redrives them.',
} as const
