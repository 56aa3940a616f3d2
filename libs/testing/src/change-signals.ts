import { ChangedSignal, natsNames, type Principal } from '@opsplane/contracts'
import { connectNats } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { testNatsUrl } from './test-env.js'

const log = createLogger({ service: 'test', level: 'silent' })

/** Follows what a service signals of the resources of a principal's tenant from now on: `type id` of each that has changed. */
export async function followChanges(
  { natsPrefix }: { natsPrefix: string },
  { workspaceId = '', environment = 'production' }: Pick<Principal, 'workspaceId' | 'environment'>,
) {
  const link = connectNats({ url: testNatsUrl(), name: 'changes', log })
  const connection = await link.ready()
  const changed = new Set<string>()
  connection.subscribe(natsNames(natsPrefix).changedSubject({ workspaceId, environment }), {
    callback(_error, message) {
      const { type, ids } = ChangedSignal.parse(message.json())
      for (const id of ids) changed.add(`${type} ${id}`)
    },
  })
  await connection.flush()
  return { changed, close: () => link.close() }
}
