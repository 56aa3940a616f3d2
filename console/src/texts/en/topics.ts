export const topics = {
  title: 'Topics',
  name: 'Topic',
  placeholder: 'orders.created',
  wrong: 'Lower-case letters, digits, _ and -, in parts with dots between them',
  choose: 'Which topic?',
  chooseHelp:
    'Name one above: what was published to it is listed, and what is published next appears. A topic exists once something is published to it:',
  empty: (name: string) => `Nothing was published to ${name} yet`,
  emptyHelp: 'What is published appears here by itself:',
  payload: 'Payload',
  cut: (count: number) => `The latest ${count.toLocaleString('en')} are shown.`,
} as const
