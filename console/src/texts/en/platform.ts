/** Status of the installation, for operators. */
export const platform = {
  title: 'Platform',
  tabs: { status: 'Status', deadLetters: 'Dead letters' },
  operatorsOnly: 'Only operators of the installation can see this',
  operatorsOnlyHelp: 'The operator adds the address of your login to OPERATORS of the settings service.',
  allGood: 'Every service is up, and nothing is late.',
  natsAway:
    'NATS does not answer. The API goes on, and events wait in Postgres until it is back; then they are published by themselves. Check that nats-server runs, that the services reach it (NATS_URL), and its log.',
  troubles: (count: number) => (count === 1 ? '1 problem to solve' : `${count} problems to solve`),
  service: 'Service',
  state: 'State',
  up: 'Up',
  unpublished: 'Unpublished',
  oldest: 'oldest',
  consumers: 'Waiting for consumers',
  dueWork: 'Late work',
  deadLetters: 'Dead letters',
  webhooks: 'Webhooks with waiting deliveries',
  noWebhooks: 'No delivery is waiting.',
  webhooksAway: 'The dispatcher does not answer.',
  waiting: (count: string) => `${count} waiting`,
  workspaces: 'Workspaces',
  members: (count: number) => (count === 1 ? '1 member' : `${count} members`),
  andMore: (count: number) => `and ${count} more`,
  unknown: '?',
  next: {
    down: (service: string) =>
      `Check the log of ${service}, its database and NATS. Its state names what it waits for.`,
    silent: (service: string) =>
      `${service} is up, but did not return its figures in time. If it lasts, check its database and NATS, then its log.`,
    unpublished: (service: string) =>
      `Events of ${service} wait to be published: check that NATS is up and has free storage, then the log of ${service}.`,
    consumers: (names: string) =>
      `${names} fall behind. If it lasts, check the log for errors, then start another replica.`,
    dueWork: (names: string) =>
      `Late work: ${names}. Check the log of the service; its other replicas share the work.`,
    deadLetters: (count: number) =>
      count === 1
        ? 'One dead letter. Fix the cause, then redrive it.'
        : `${count} dead letters. Fix the cause, then redrive them.`,
  },
  open: 'Open',
  letters: {
    consumer: 'Consumer',
    event: 'Event',
    tries: 'Tries',
    when: 'Given up',
    allServices: 'All services',
    select: 'Select a dead letter to redrive or drop it',
    empty: 'No dead letters',
    emptyHelp:
      'Messages that a consumer could not handle after all attempts wait here until an operator redrives or drops them.',
    emptyFiltered: 'This service has no dead letters',
    notAnEvent: 'Not an event',
    story: (consumer: string, service: string, deliveries: number) =>
      `${consumer} failed ${deliveries === 1 ? 'once' : `${deliveries} times`} and gave up. The log of ${service} has the error in the line "event given up" with this message. Fix the cause, then redrive it.`,
    unsigned: (consumer: string) =>
      `${consumer} refused the signature of this message. If no service published it, find out who can publish to NATS, then drop it. If the keys of the services differ, correct them, then redrive it.`,
    redriven: 'It was sent to its consumer again, which has not handled it yet.',
    failedAgain: 'Its consumer failed again.',
    redrive: 'Redrive',
    redriveHint: 'Sends it to its consumer again',
    drop: 'Drop',
    dropAsk: (id: string) => `Drop ${id}? Its consumer will never handle it.`,
    gone: 'It has been handled or dropped.',
    facts: {
      id: 'Dead letter',
      service: 'Service',
      consumer: 'Consumer',
      cause: 'Cause',
      message: 'Message',
      type: 'Event type',
      workspace: 'Workspace',
      environment: 'Environment',
      created: 'Given up',
    },
  },
} as const
