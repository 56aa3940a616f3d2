import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { backendNames, type ServiceName, serviceNames } from '@opsplane/contracts'
import { mapNames } from '../map-names.js'
import { completeSecrets } from '../secrets.js'
import { buildPlannedEnvironment, type PlanOptions, planServices } from '../service-plan.js'
import { knownVariables, nearlyKnown, ownVariables, serviceVariables } from './variables.js'

const options: PlanOptions = {
  secrets: completeSecrets(),
  databaseUrls: mapNames(backendNames, (name) => `postgres://${name}@127.0.0.1:1/ops`),
  natsUrls: mapNames(serviceNames, () => 'nats://127.0.0.1:1'),
  ports: mapNames(serviceNames, () => 1),
  origin: 'http://127.0.0.1:1',
  environment: {},
}
const read = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../../../${path}`, import.meta.url)), 'utf8')
/** The variables that a document names in the first column of its tables. */
const documentedIn = (text: string) =>
  [...text.matchAll(/^\| ((?:`[A-Z][A-Z0-9_]+`(?:, )?)+) +\|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name = '']) => name),
  )
const configuration = documentedIn(read('docs/configuration.md'))
const readBy = serviceVariables()

describe('a variable set by the operator', () => {
  const cases = serviceNames.flatMap((name) =>
    readBy[name]
      .filter((variable) => !(variable in buildPlannedEnvironment(options, name)))
      .map((variable) => [variable, name] as const),
  )

  test.each<readonly [string, ServiceName]>(cases)('%s is passed to %s', (variable, name) => {
    const environment = { [variable]: 'as the operator says' }
    expect(planServices({ ...options, environment })[name][variable]).toBe('as the operator says')
    // An empty variable counts as absent: the default remains.
    expect(planServices({ ...options, environment: { [variable]: '' } })[name]).toEqual(
      planServices(options)[name],
    )
  })

  test('is not passed to a service that does not read it or for which the local run sets it', () => {
    const all = Object.fromEntries(
      [...knownVariables(), 'HOME'].map((name) => [name, 'as the operator says']),
    )
    const plan = planServices({ ...options, environment: all })
    for (const name of serviceNames) {
      expect(Object.keys(plan[name]).toSorted()).toEqual(readBy[name].toSorted())
      for (const [variable, value] of Object.entries(buildPlannedEnvironment(options, name)))
        if (readBy[name].includes(variable)) expect(plan[name][variable]).toBe(value)
    }
  })
})

describe('the documentation matches the variables of the services', () => {
  const known = knownVariables()

  test('docs/configuration.md lists only variables that are read', () => {
    expect(configuration.length).toBeGreaterThan(40)
    expect(configuration.filter((name) => !known.includes(name))).toEqual([])
  })

  test.each(serviceNames)('%s reads exactly the documented variables', (name) => {
    const own = documentedIn(read(`services/${name}/README.md`))
    expect(readBy[name].filter((variable) => ![...configuration, ...own].includes(variable))).toEqual([])
    expect(own.filter((variable) => !readBy[name].includes(variable))).toEqual([])
  })

  test('additional variables of the local run are documented', () => {
    const text = read('docs/configuration.md')
    expect(ownVariables.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  })
})

describe('warnings about unknown variables', () => {
  const known = knownVariables()
  const meant = (name: string) => nearlyKnown({ [name]: 'x' }, known)

  test.each([
    ['DATABASE_POLL_SIZE', 'DATABASE_POOL_SIZE'],
    ['TRUST_PROXY_CIDR', 'TRUST_PROXY_CIDRS'],
    ['TRUST_PROXY', 'TRUST_PROXY_CIDRS'],
    ['LOG_LEVEl', 'LOG_LEVEL'],
    ['WEBHOOK_ALLOWED_CIDRS_V6', 'WEBHOOK_ALLOWED_CIDRS'],
    ['PORTS', 'PORT'],
  ])('%s is reported with the suggestion %s', (name, variable) => {
    expect(meant(name)).toEqual([
      expect.stringMatching(new RegExp(`^${name} is read by nothing. ${variable} is`)),
    ])
  })

  test.each([
    ...[
      'PATH',
      'HOME',
      'HOSTNAME',
      'LOGNAME',
      'SHELL',
      'TERM',
      'LANG',
      'LINES',
      'PWD',
      'USER',
      'EDITOR',
      'TZ',
      'NODE_ENV',
    ],
    ...known,
  ])('%s is not reported', (name) => {
    expect(meant(name)).toEqual([])
  })
})
