import { waitFor } from '@opsplane/testing'
import type { typedClient } from '../platform.js'

type Client = ReturnType<typeof typedClient>
type Path = Record<string, string>

/** Larger than the values a run stores inline. */
const large = 'x'.repeat(20_000)

/** Prepares published workflows, and runs in the status an operation applies to. */
export async function prepareWorkflows(owner: Client) {
  let made = 0

  async function published(steps: object[], trigger?: object): Promise<{ id: string }> {
    const definition = { steps, ...(trigger && { trigger }) } as never
    const body = { name: `Flow ${++made}`, definition }
    const path = { id: (await owner.post('/workflows', { body })).data.id }
    const activate = trigger !== undefined
    await owner.post('/workflows/{id}/publish', { params: { path }, body: { activate } })
    return path
  }
  const revise = async (path: { id: string }, steps: object[]) => {
    await owner.patch('/workflows/{id}', { params: { path }, body: { definition: { steps } as never } })
    await owner.post('/workflows/{id}/publish', { params: { path }, body: { activate: true } })
  }

  /** Contains the step that the example of a test pins. */
  const fetched = (value: unknown) => [{ id: 'fetch', type: 'transform', value }]
  const flow = await published(fetched('one'))
  await revise(flow, fetched('{{ input }}'))
  const called = await published(fetched('{{ event.body }}'), { type: 'webhook' })
  const waits = await published([{ id: 'hold', type: 'wait', seconds: 86_400 }])
  const approvalWorkflow = await published([
    { id: 'ask', type: 'approval', title: 'May I?', approvers: { roles: ['owner'] } },
  ])
  // The step has the name from which the example restarts.
  const fails = await published([{ id: 'notify', type: 'fail', message: 'No.' }])

  type Status = 'completed' | 'failed' | 'waiting' | 'paused'
  async function runOf(path: { id: string }, until: Status, input: unknown = {}) {
    const body = { input: input as never }
    const id = (await owner.post('/workflows/{id}/trigger', { params: { path }, body })).data.runId
    const params = { path: { id } }
    return waitFor(
      async () => {
        const { data } = await owner.get('/runs/{id}', { params })
        return data.status === until ? data : undefined
      },
      { intervalMs: 50 },
    )
  }
  const done = await runOf(flow, 'completed', { text: large })
  const valueId = String(done.output.large?.href.split('/').at(-1))
  const idOf = async (run: Promise<{ id: string }>): Promise<Path> => ({ id: (await run).id })

  return {
    prepared: {
      '/workflows/{id}/versions/{number}': async () => ({ ...flow, number: '1', other: '2' }),
      '/workflows/{id}/': async () => flow,
      '/runs/{id}/cancel': () => idOf(runOf(waits, 'waiting')),
      '/runs/{id}/retry': () => idOf(runOf(fails, 'failed')),
      '/runs/{id}/resume': () => idOf(runOf(approvalWorkflow, 'paused')),
      '/runs/{id}/values/{valueId}': async () => ({ id: done.id, valueId }),
      '/runs/{id}': async () => ({ id: done.id }),
      '/origin/hooks/{id}': async () => {
        const { data } = await owner.get('/workflows/{id}/hook', { params: { path: called } })
        return { id: data.path.split('/').at(-1) ?? '' }
      },
    } satisfies Record<string, () => Promise<Path>>,
  }
}
