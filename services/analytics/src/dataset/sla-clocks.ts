import { SlaTimer } from '@opsplane/contracts'
import { defineDataset, duration, flag, instant, measure, text } from './dataset.js'

const Reported = SlaTimer.pick({
  ...{ id: true, entityType: true, entityNumber: true, policyId: true, policyName: true, metric: true },
  ...{ goalKey: true, goalMs: true, state: true, breached: true, startedAt: true, dueAt: true },
  ...{ breachedAt: true, createdAt: true },
})

const hasEnded = "state = 'completed'"

export const slaClocks = defineDataset({
  name: 'sla_clocks',
  label: 'SLA clocks',
  description: 'One fact for each clock of an SLA policy, in its current state.',
  permission: 'itsm:read',
  columns: {
    entityType: text('Kind'),
    entityNumber: { label: 'Number', type: 'text' },
    policyId: text('Policy id'),
    policyName: text('Policy'),
    metric: text('Metric'),
    goalKey: text('Goal of'),
    goalMs: duration('Goal'),
    state: text('State'),
    breached: flag('Breached'),
    startedAt: instant('Started'),
    dueAt: instant('Due'),
    breachedAt: instant('Breached at'),
  },
  measures: {
    clocks: measure.count('Clocks', 'Number of clocks.'),
    running: measure.count('Running', 'Clocks that are running now.', "state = 'running'"),
    breaches: measure.count('Breaches', 'Clocks past their goal.', 'breached'),
    met: measure.share(
      'Met',
      'Of those that have ended, the ones that did so in time.',
      `${hasEnded} and not breached`,
      hasEnded,
    ),
    breach_rate: measure.share('Breach rate', 'Share of all clocks that are past their goal.', 'breached'),
  },
  timeFields: ['createdAt', 'dueAt', 'breachedAt'],
  rollups: [
    { dimensions: [] },
    { dimensions: ['metric'] },
    { dimensions: ['goalKey'] },
    { dimensions: ['policyName'] },
    { dimensions: ['entityType'] },
  ],
  toFact({ type, data }) {
    if (!type.startsWith('sla.') || data.after === null) return undefined
    const { id, createdAt, ...values } = Reported.parse(data.after)
    return { id, createdAt, values }
  },
})
