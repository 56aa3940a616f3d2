import { buildId, type StubState } from '../console-stub/index.js'

export interface Screen {
  name: string
  /** Path below the workspace and environment, or from the origin. */
  path: string
  /** Selector of its rows or details, awaited in the states that have some. */
  ready: string
  /** States in which the page is shown; defaults to all, except for pages that read nothing. */
  states?: readonly StubState[]
  /** The page does not indicate that its content is out of date. */
  isStill?: true
}

const inWorkspace = (path: string) => `/w/acme/production/${path}`
const webhook = buildId('whk', 1)
const detail = '.facts'
const row = '.list-row'
/** States of a form, which only reads names. */
const alone: readonly StubState[] = ['one', 'long']

/** Every page of the console. */
export const screens: readonly Screen[] = [
  { name: 'failed-now', path: inWorkspace('failed'), ready: '.failed-group' },
  { name: 'deliveries', path: inWorkspace('deliveries'), ready: row },
  { name: 'delivery', path: inWorkspace(`deliveries/${webhook}/${buildId('del', 1)}`), ready: detail },
  { name: 'webhooks', path: inWorkspace('webhooks'), ready: row },
  { name: 'webhook', path: inWorkspace(`webhooks/${webhook}`), ready: detail },
  { name: 'webhook-replay', path: inWorkspace(`webhooks/${webhook}?tab=replay`), ready: detail },
  { name: 'webhook-signature', path: inWorkspace(`webhooks/${webhook}?tab=signature`), ready: detail },
  { name: 'events', path: inWorkspace('events'), ready: row },
  { name: 'event', path: inWorkspace(`events/${buildId('evt', 1)}`), ready: detail },
  {
    name: 'event-deliveries',
    path: inWorkspace(`events/${buildId('evt', 1)}?tab=deliveries`),
    ready: detail,
  },
  { name: 'event-timeline', path: inWorkspace(`events/${buildId('evt', 1)}?tab=related`), ready: detail },
  { name: 'event-json', path: inWorkspace(`events/${buildId('evt', 1)}?tab=raw`), ready: detail },
  { name: 'topic', path: inWorkspace('topics?name=orders'), ready: 'main h1', isStill: true },
  { name: 'catalogue', path: inWorkspace('catalogue'), ready: row },
  { name: 'event-type', path: inWorkspace('catalogue/incident.created'), ready: '.detail-body' },
  { name: 'audit', path: inWorkspace('audit'), ready: row },
  { name: 'notifications', path: inWorkspace('notifications'), ready: row },
  { name: 'notification', path: inWorkspace(`notifications/${buildId('ntf', 0)}`), ready: '.detail-body' },
  { name: 'users', path: inWorkspace('people/users'), ready: row },
  { name: 'user', path: inWorkspace(`people/users/${buildId('usr', 1)}`), ready: detail },
  { name: 'invite', path: inWorkspace('people/users/new'), ready: 'form', states: alone },
  { name: 'roles', path: inWorkspace('people/roles'), ready: 'main h1' },
  { name: 'role', path: inWorkspace('people/roles/owner'), ready: '.detail-body .panel' },
  { name: 'new-role', path: inWorkspace('people/roles/new'), ready: 'form', states: alone },
  { name: 'keys', path: inWorkspace('people/keys'), ready: row },
  { name: 'key', path: inWorkspace(`people/keys/${buildId('tok', 0)}`), ready: detail },
  { name: 'new-key', path: inWorkspace('people/keys/new'), ready: 'form', states: alone },
  { name: 'secrets', path: inWorkspace('people/secrets'), ready: row },
  { name: 'secret', path: inWorkspace('people/secrets/jira_token_0'), ready: detail },
  { name: 'new-secret', path: inWorkspace('people/secrets/new'), ready: 'form', states: alone },
  { name: 'sign-on', path: inWorkspace('people/sign-on'), ready: 'main h1' },
  {
    name: 'provider',
    path: inWorkspace(`people/sign-on/${buildId('idp', 0)}`),
    ready: '.detail-body .panel',
  },
  { name: 'new-provider', path: inWorkspace('people/sign-on/new'), ready: 'form', states: alone },
  { name: 'platform', path: inWorkspace('platform/status'), ready: '.services' },
  { name: 'dead-letters', path: inWorkspace('platform/dead-letters'), ready: row, isStill: true },
  {
    name: 'dead-letter',
    path: inWorkspace(`platform/dead-letters/analytics:${buildId('dlt', 0)}`),
    ready: detail,
  },
  { name: 'record', path: inWorkspace(`record/${buildId('inc', 3)}`), ready: 'main h1' },
  { name: 'account', path: '/account', ready: 'h1', isStill: true },
  { name: 'sign-in', path: '/sign-in', ready: 'form', states: ['one'] },
  { name: 'reset', path: '/reset', ready: 'form', states: ['one'] },
  { name: 'invitation', path: '/invitation#token=ops_inv_1', ready: 'form', states: ['one'] },
]
