import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { eventExample, natsNames } from '@opsplane/contracts'
import { connectNats, ensureStreams } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { testNatsUrl, uniquePrefix, waitFor } from '@opsplane/testing'

test('the example prints the events it subscribes to, and exits on SIGTERM', async () => {
  const [url, prefix] = [testNatsUrl(), uniquePrefix()]
  const names = natsNames(prefix)
  const link = connectNats({
    url,
    name: 'example-test',
    log: createLogger({ service: 'test', level: 'silent' }),
  })
  await ensureStreams(link, names)
  const connection = await link.ready()
  for (const type of ['incident.updated', 'incident.escalated'] as const) {
    const event = eventExample(type)
    await connection.request(names.eventSubject(event), JSON.stringify(event))
  }
  const env = { ...process.env, NATS_URL: url, NATS_PREFIX: prefix }
  const child = spawn(process.execPath, [fileURLToPath(new URL('consume-events.js', import.meta.url))], {
    env,
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  try {
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += chunk
    })
    await waitFor(() => printed.includes('\n'))
    expect(printed).toBe(
      '2026-01-15T09:30:00.000Z incident.escalated (severity_raised) INC-42 critical: Checkout answers 502\n',
    )
    child.kill('SIGTERM')
    expect(await exited).toBe(0)
  } finally {
    child.kill('SIGKILL')
    await link.close()
  }
})
