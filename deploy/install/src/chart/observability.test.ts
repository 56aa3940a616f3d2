import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { createMetrics, seriesNames } from '@opsplane/telemetry'
import { parse } from 'yaml'
import { z } from 'zod'
import { areToolsEnabled, cache, goProgram, run as runTool } from './chart-tools.fixture.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const rulesFile = join(root, 'helm/opsplane/files/alerts.yaml')
const dashboardsFolder = join(root, 'helm/opsplane/files/dashboards')
const runbooksFolder = join(root, 'docs/runbooks')

const Recorded = z.strictObject({ record: z.string(), expr: z.string() })
const Alert = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.object({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook_url: z.url() }),
})
const Rules = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(z.union([Recorded, Alert])) })),
})
const Dashboard = z.looseObject({
  uid: z.string(),
  templating: z.object({ list: z.array(z.looseObject({ name: z.string() })) }),
  panels: z.array(
    z.looseObject({ title: z.string(), targets: z.array(z.looseObject({ expr: z.string() })) }),
  ),
})

const rules = Rules.parse(parse(readFileSync(rulesFile, 'utf8'))).groups.flatMap((group) => group.rules)
const alerts = rules.flatMap((rule) => ('alert' in rule ? [rule] : []))
const recorded = rules.flatMap((rule) => ('record' in rule ? [rule.record] : []))
const dashboards = readdirSync(dashboardsFolder).map((file) =>
  Dashboard.parse(JSON.parse(readFileSync(join(dashboardsFolder, file), 'utf8'))),
)

/** Names before labels or a range, or alone: names with a prefix that only metrics have. */
const namesIn = (expr: string): string[] =>
  expr.replaceAll(/"[^"]*"/g, '').match(/\b(?:opsplane[_:]|nodejs_|process_)[a-z0-9_:]+/g) ?? []

describe('rules and dashboards use only existing series', () => {
  const known = new Set([...seriesNames(), ...recorded])

  test.each(rules.map((rule) => ('alert' in rule ? rule.alert : rule.record)).map((name, at) => [name, at]))(
    'in the rule %s',
    (_name, at) => {
      const names = namesIn(rules[Number(at)]?.expr ?? '')
      expect(names.filter((name) => !known.has(name))).toEqual([])
    },
  )

  test.each(dashboards.map(({ uid, panels }) => [uid, panels] as const))(
    'in the dashboard %s',
    (_uid, panels) => {
      const exprs = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
      expect(exprs.filter((expr) => namesIn(expr).length === 0)).toEqual([])
      expect(exprs.flatMap(namesIn).filter((name) => !known.has(name))).toEqual([])
    },
  )

  test('and the check detects a misspelt name', () => {
    expect(namesIn('sum(rate(opsplane_http_request_total{service="gateway"}[5m]))')).toEqual([
      'opsplane_http_request_total',
    ])
    expect(known.has('opsplane_http_request_total')).toBe(false)
  })
})

/** Every series selector in an expression. */
const selectorsIn = (expr: string): string[] =>
  expr.match(/\b(?:(?:opsplane[_:]|nodejs_|process_)[a-z0-9_:]+|up(?=\{))(?:\{[^}]*\})?/g) ?? []
const notOf = (matcher: string, expr: string) =>
  selectorsIn(expr).filter((selector) => !selector.includes(`{${matcher}`))
/** Aggregations that combine series of several installations. */
const mixedIn = (expr: string) =>
  expr.match(/\b(?:sum|min|max|avg|count|topk|bottomk|quantile)\b(?! by \(installation\b)/g) ?? []

describe('rules and dashboards separate the installations of one Prometheus', () => {
  test.each(rules.map((rule) => ['alert' in rule ? rule.alert : rule.record, rule.expr] as const))(
    'in the rule %s',
    (_name, expr) => {
      // The chart replaces this pattern with the name of its installation.
      expect(notOf('installation=~".*"', expr)).toEqual([])
      expect(mixedIn(expr)).toEqual([])
    },
  )

  test.each(dashboards.map((dashboard) => [dashboard.uid, dashboard] as const))(
    'in the dashboard %s',
    (_uid, { panels, templating }) => {
      const exprs = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
      expect(exprs.flatMap((expr) => notOf('installation="$installation"', expr))).toEqual([])
      expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'installation'])
    },
  )

  test('and the check detects an expression that mixes them', () => {
    const mixed = 'sum(up{job="opsplane"}) / max by (service) (opsplane_relay_active)'
    expect(notOf('installation=~".*"', mixed)).toEqual(['up{job="opsplane"}', 'opsplane_relay_active'])
    expect(mixedIn(mixed)).toEqual(['sum', 'max'])
  })
})

describe('each alert has a complete runbook', () => {
  const pageOf = ({ annotations }: z.infer<typeof Alert>) => annotations.runbook_url.split('/').at(-1) ?? ''

  test.each([...new Map(alerts.map((alert) => [alert.alert, alert]))])('%s', (name, alert) => {
    const text = readFileSync(join(runbooksFolder, pageOf(alert)), 'utf8')
    expect(text.startsWith(`# ${name}\n`)).toBe(true)
    const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(['What it means', 'What users see', 'What to look at', 'What to do'])
  })

  test('and each runbook belongs to an alert', () => {
    expect(readdirSync(runbooksFolder).sort()).toEqual([...new Set(alerts.map(pageOf))].sort())
  })

  test('links between runbooks lead to existing files', () => {
    for (const file of readdirSync(runbooksFolder))
      for (const [, target = ''] of readFileSync(join(runbooksFolder, file), 'utf8').matchAll(
        /\]\(([^)#]+)/g,
      ))
        expect(() => readFileSync(join(runbooksFolder, target))).not.toThrow()
  })
})

const Cases = z.object({
  tests: z.array(
    z.object({
      alert_rule_test: z
        .array(z.object({ alertname: z.string(), exp_alerts: z.array(z.unknown()) }))
        .default([]),
      promql_expr_test: z
        .array(z.object({ expr: z.string(), exp_samples: z.array(z.object({ labels: z.string() })) }))
        .default([]),
    }),
  ),
})

test('each alert fires in at least one promtool test case', () => {
  const { tests } = Cases.parse(
    parse(readFileSync(join(root, 'deploy/observability/alerts.test.yaml'), 'utf8')),
  )
  const expected = tests.flatMap(({ alert_rule_test, promql_expr_test }) => [
    ...alert_rule_test.flatMap(({ alertname, exp_alerts }) => (exp_alerts.length > 0 ? [alertname] : [])),
    ...promql_expr_test
      .filter(({ exp_samples }) => exp_samples.length > 0)
      .flatMap(({ expr, exp_samples }) => [expr, ...exp_samples.map(({ labels }) => labels)])
      .flatMap((text) => [...text.matchAll(/alertname="(\w+)"/g)].map(([, name]) => name)),
  ])
  expect([...new Set(expected)].toSorted()).toEqual([...new Set(alerts.map(({ alert }) => alert))].toSorted())
})

/**
 * Prometheus' promtool: from PROMTOOL if set, else built with the other tools if they are enabled, else from PATH
 * (Debian package `prometheus`).
 */
const promtool = process.env.PROMTOOL ?? (areToolsEnabled ? goProgram('promtool') : 'promtool')
const isFound = spawnSync(promtool, ['--version']).status === 0
const described = isFound ? describe : describe.skip

described('promtool (skipped where it is neither in PATH nor named by PROMTOOL)', () => {
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: 'utf8' })
    return { status, output: `${stdout}${stderr}` }
  }

  test('accepts the alert rules', () => {
    expect(run('check', 'rules', rulesFile)).toMatchObject({ status: 0 })
  })

  test('passes the test cases of the alert rules', () => {
    expect(run('test', 'rules', join(root, 'deploy/observability/alerts.test.yaml'))).toMatchObject({
      status: 0,
    })
  })

  test('accepts the example configuration of Prometheus', () => {
    const file = join(root, 'deploy/observability/prometheus.yaml')
    expect(run('check', 'config', '--syntax-only', file)).toMatchObject({ status: 0 })
  })

  test('accepts the metrics of the services', async () => {
    const text = await createMetrics({ service: 'any' }).text()
    const { status } = spawnSync(promtool, ['check', 'metrics'], { encoding: 'utf8', input: text })
    expect(status).toBe(0)
  })
})

const whereBuilt = areToolsEnabled ? describe : describe.skip
whereBuilt('a collector of OpenTelemetry (built where the other tools are)', () => {
  let collector: string
  const example = readFileSync(join(root, 'deploy/observability/otel-collector.yaml'), 'utf8')
  const validated = (text: string) => runTool(collector, ['validate', '--config', `yaml:${text}`])

  beforeAll(() => {
    const manifest = join(root, 'deploy/observability/otel-collector-builder.yaml')
    const { status, output } = runTool(goProgram('builder'), ['--config', manifest], { cwd: cache })
    expect({ status, output: status === 0 ? '' : output }).toEqual({ status: 0, output: '' })
    collector = join(cache, 'collector/collector')
  })

  test('accepts the example configuration of the collector', () => {
    expect(validated(example)).toMatchObject({ status: 0 })
  })

  test('rejects a misspelt component', () => {
    expect(validated(example.replaceAll('memory_limiter', 'memory_limit')).output).toContain('unknown type')
  })
})
