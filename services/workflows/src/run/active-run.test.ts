import { expect, test } from '@jest/globals'
import { WorkflowDefinition } from '@opsplane/contracts'
import { compileProgram } from '../engine/program.js'
import { type ActiveRunOptions, createActiveRun, type Leaving } from './active-run.js'
import { foldRun } from './folded-run.js'
import type { ClaimedRun, Origin } from './model.js'

const steps = [{ id: 'nap', type: 'wait', seconds: 3_600 }]
const at = '2026-01-01T00:00:00.000Z'
const identity: ClaimedRun['identity'] = {
  id: 'run_1',
  tenant: { workspaceId: 'ws_1', environment: 'production' },
  ...{ workflowId: 'wf_1', workflowName: 'One', workflowVersion: 1, triggerType: 'manual' },
  ...{ parentRunId: null, parentWaits: false, concurrencyKey: null, queuedAt: at },
}
const origin: Origin = {
  programRef: 'wf_1.1',
  trigger: { type: 'manual', id: null, at },
  ...{ event: null, input: null, parent: null, depth: 0, causationId: null, requestId: null, since: null },
}

/** Cancels a run whose transition is committed with `commit`; returns the answer to the sender. */
async function cancelled(commit: ActiveRunOptions['commit']) {
  const left: Leaving[] = []
  const program = compileProgram(WorkflowDefinition.parse({ steps }))
  const progress = { status: 'queued', attempt: 1, error: null, startedAt: null, endedAt: null } as const
  const active = createActiveRun({
    run: { identity, progress, fence: '1', seq: 0, bytes: 0, signals: 0 },
    ...{
      origin,
      folded: foldRun({ program, identity, origin, recorded: [] }),
      nowMs: () => Date.parse(at),
      commit,
    },
    perform: () => new Promise(() => {}),
    readInbox: async () => [],
    keepsTrace: () => true,
    moved: () => {},
    schedule: () => {},
    left: (_, leaving) => void left.push(leaving),
  })
  const signal = { kind: 'cancel', by: 'usr_1', reason: null } as const
  const signalResult = await active.present({ signal, actor: null, requestId: null })
  return { signalResult, how: left.map(({ how }) => how) }
}

test.each<[string, ActiveRunOptions['commit'], string, string]>([
  ['is made durable', async () => ({ signals: 0 }), 'changed', 'ended'],
  ['belongs to another worker by now', async () => undefined, 'gone', 'lost'],
  ['cannot be written', () => Promise.reject(new Error('a constraint')), 'gone', 'lost'],
])(
  'the sender of a signal receives an answer when the transition %s',
  async (_, commit, signalResult, how) => {
    expect(await cancelled(commit)).toEqual({ signalResult, how: [how] })
  },
)
