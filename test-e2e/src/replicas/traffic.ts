import { expect } from '@jest/globals'
import { isLongTier, startReceiver, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { Agent } from 'undici'
import { expectNothingLost } from '../crash-checks.js'
import { type CreateLoad, startCreating } from '../crash-load.js'
import { apiClient } from '../platform.js'
import type { ReplicatedPlatform } from './platform.js'
import { startTopic, type TopicLoad } from './topic-load.js'

export interface Loads {
  incidents: CreateLoad
  topic: TopicLoad
}

export interface Traffic {
  /**
   * Creates incidents and publishes to a topic while `happen` runs; then checks that every failure was marked as
   * retryable, and that everything acknowledged is stored and delivered.
   */
  during(name: string, happen: (loads: Loads) => Promise<void>): Promise<void>
  stop(): Promise<void>
}

const events = ['incident.created', 'incident.updated']

export async function startTraffic({ info, certificate }: ReplicatedPlatform): Promise<Traffic> {
  // The client closes idle connections before a gateway that is shutting down does.
  const dispatcher = new Agent({ keepAliveTimeout: 2_000, keepAliveMaxTimeout: 2_000 })
  const api = apiClient(info, { dispatcher })
  const sql = postgres(info.postgresUrl, { max: 1, onnotice: () => {} })
  const receiver = await startReceiver({ tls: { key: certificate.key, cert: certificate.cert } })
  return {
    async during(name, happen) {
      const webhook = { name, url: `${receiver.url}/${name}`, events, retries: 10 }
      expect(await api('POST', '/webhooks', { body: webhook })).toMatchObject({ status: 201 })
      const incidents = startCreating(api, { changes: 2, pauseMs: isLongTier() ? 50 : 100, prefix: name })
      const topic = startTopic(api, name)
      try {
        await waitFor(() => incidents.acknowledged.size > 0 && topic.read.length > 0)
        await happen({ incidents, topic })
      } finally {
        await incidents.stop()
        await topic.stop()
      }
      expect([...incidents.unexpected(), ...topic.unexpected]).toEqual([])
      expect(topic.read).toEqual([...topic.published])
      await expectNothingLost({ sql, natsUrl: info.natsUrl, receiver }, incidents)
    },
    async stop() {
      await sql.end({ timeout: 5 })
      await receiver.stop()
      await dispatcher.close()
    },
  }
}

/** Enough creates that some of them began after the fault. */
const more = isLongTier() ? 10 : 3

/** Resolves once incidents are created and the topic is read after `name` has happened. */
export async function expectProgress(name: string, { incidents, topic }: Loads): Promise<void> {
  const before = { created: incidents.acknowledged.size, read: topic.read.length }
  await waitFor(
    () => incidents.acknowledged.size > before.created + more && topic.read.length > before.read + 3,
    {
      message: `work to go on after ${name}; the last answer was ${incidents.lastAnswer()}`,
    },
  )
}
