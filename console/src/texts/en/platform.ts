/** How the installation is, for those who operate it. */
export const platform = {
  title: 'Platform',
  tabs: { status: 'Status', deadLetters: 'Dead letters' },
  operatorsOnly: 'This is for the operators of the installation',
  operatorsOnlyHelp: 'The operator adds the address of your login to OPERATORS of the settings service.',
  allGood: 'Every service is up, and nothing waits.',
  troubles: (count: number) => (count === 1 ? '1 thing needs you' : `${count} things need you`),
  service: 'Service',
  state: 'State',
  up: 'Up',
  unpublished: 'Unpublished',
  oldest: 'oldest',
  consumers: 'Events before consumers',
  dueWork: 'Late work',
  deadLetters: 'Dead letters',
  webhooks: 'Webhooks with deliveries that wait',
  noWebhooks: 'No delivery waits.',
  webhooksAway: 'The dispatcher does not answer.',
  waiting: (count: string) => `${count} wait`,
  workspaces: 'Workspaces',
  members: (count: number) => (count === 1 ? '1 member' : `${count} members`),
  andMore: (count: number) => `and ${count} more`,
  unknown: '?',
  next: {
    down: (service: string) =>
      `Look at the log of ${service}, and at its database and NATS. Its state says what it waits for.`,
    unpublished: (service: string) =>
      `Events of ${service} wait to be published: see that NATS is up and has room, then look at the log of ${service}.`,
    consumers: (names: string) =>
      `${names} fall behind. If it lasts, look for errors in the log, then start a further replica.`,
    dueWork: (names: string) => `${names} are late. Look at the log; a further replica shares the work.`,
    deadLetters: (count: number) =>
      count === 1
        ? 'An event was given up. Mend its cause, then redrive it.'
        : `${count} events were given up. Mend their cause, then redrive them.`,
  },
  open: 'Open',
  letters: {
    consumer: 'Consumer',
    event: 'Event',
    tries: 'Tries',
    when: 'Given up',
    allServices: 'All services',
    select: 'Select a dead letter to redrive or drop it',
    empty: 'No consumer has given anything up',
    emptyHelp:
      'What a consumer of events fails to handle again and again is kept here, until somebody redrives or drops it.',
    emptyFiltered: 'This service has given nothing up',
    notAnEvent: 'No event of the platform',
    story: (consumer: string, deliveries: number) =>
      `${consumer} tried it ${deliveries} times and gave up. Look for its id in the log, mend the cause, then redrive it.`,
    redriven: 'It was handed to its consumer again, which has not come to it yet.',
    failedAgain: 'Its consumer failed again.',
    redrive: 'Redrive',
    redriveHint: 'Hands it to its consumer again',
    drop: 'Drop',
    dropAsk: (id: string) => `Drop ${id}? What it is about is not done.`,
    gone: 'It is handled, or was dropped.',
    facts: {
      id: 'Dead letter',
      service: 'Service',
      consumer: 'Consumer',
      message: 'Message',
      type: 'Event type',
      workspace: 'Workspace',
      environment: 'Environment',
      created: 'Given up',
    },
  },
} as const
