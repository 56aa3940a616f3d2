const countOf = (count: number, isMore: boolean) => `${count.toLocaleString('en')}${isMore ? '+' : ''}`

const unitOf = (one: string, several: string) => (count: number, isMore: boolean) =>
  `${countOf(count, isMore)} ${count === 1 && !isMore ? one : several}`

export const failedNow = {
  title: 'Failed now',
  deliveries: 'Deliveries',
  runs: 'Runs',
  executions: 'Executions',
  deadLetters: 'Dead letters',
  countOf,
  units: {
    deliveries: unitOf('delivery', 'deliveries'),
    runs: unitOf('run', 'runs'),
    executions: unitOf('execution', 'executions'),
    deadLetters: unitOf('message', 'messages'),
  },
  about: {
    deliveries: 'Webhooks whose endpoint did not accept an event',
    runs: 'Workflow runs that ended in error',
    executions: 'Single calls of artifacts that failed',
    deadLetters: 'Messages a service could not process.',
  },
  redrive: 'Operators redrive these on Platform',
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
  held: (done: number, refused: number, name: string) =>
    `${done === 1 ? '1 delivery' : `${done} deliveries`} of ${name} held until it is resumed.${refused > 0 ? ` ${refused} could not be.` : ''}`,
  retryPaused: (count: number, name: string) =>
    `${name} is paused: ${count === 1 ? 'the delivery is held and goes' : `the ${count.toLocaleString('en')} deliveries are held and go`} out once it is resumed.`,
  unknownCause: 'Unknown cause',
  letterCause: (code: string) =>
    code === 'SignatureError' ? 'Refused signature' : `Given up: ${code.replaceAll('_', ' ')}`,
} as const
