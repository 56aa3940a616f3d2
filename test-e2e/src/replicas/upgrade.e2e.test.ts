import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { drainsReplicas, earlierVersion } from './earlier-version.js'
import { type ReplicatedPlatform, startReplicas } from './platform.js'
import { expectProgress, startTraffic, type Traffic } from './traffic.js'

/** Commits of earlier versions to upgrade from; building one takes minutes, so this runs only if they are set. */
const versions = (process.env.UPGRADE_FROM ?? '').split(',').filter((commit) => commit !== '')
const none = ['no version: UPGRADE_FROM is not set']
const described = versions.length === 0 ? describe.skip.each(none) : describe.each(versions)

described('an upgrade from %s', (commit) => {
  let version: string
  let platform: ReplicatedPlatform | undefined
  let traffic: Traffic | undefined

  beforeAll(async () => {
    version = earlierVersion(commit)
    platform = await startReplicas({ version })
    traffic = await startTraffic(platform)
  })
  afterAll(async () => {
    await traffic?.stop()
    await platform?.stop()
  })

  test('of the databases, then replica by replica under load, loses nothing, and fails no request if replicas drain', async () => {
    const { replicas = {}, migrate } = platform ?? {}
    const drains = drainsReplicas(version)
    // The pause that the chart of that version used.
    const pauseMs = drains ? 0 : 5_000
    await traffic?.during('upgraded', async (loads) => {
      await migrate?.()
      await expectProgress('the migration', loads)
      for (const place of [0, 1]) {
        const chosen = Object.values(replicas).map((each) => each[place])
        await Promise.all(
          chosen.map(async (replica) => {
            expect([replica?.name, await replica?.retire(pauseMs)]).toEqual([replica?.name, 0])
            await replica?.rejoin()
          }),
        )
        await expectProgress('an upgrade of replicas', loads)
      }
      if (drains) expect([loads.incidents.refused(), loads.topic.refused()]).toEqual([0, 0])
    })
  })
})
