import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { StreamedEvent } from '@opsplane/contracts'
import { freePort } from '@opsplane/runtime/server-process'
import { pace, waitFor } from '@opsplane/testing'
import { startCreating } from './crash-load.js'
import { apiClient, startTestCluster } from './platform.js'

/** Debian's nginx in front of a gateway, with its default buffering and its default handling of a failing upstream. */
const isWanted = process.env.TEST_NGINX !== undefined
const long = isWanted ? test : test.skip

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let nginx: ChildProcess
let folder: string
let url: string

beforeAll(async () => {
  if (!isWanted) return
  cluster = await startTestCluster({ services: ['settings', 'itsm'] })
  folder = mkdtempSync(join(tmpdir(), 'opsplane-nginx-'))
  const port = await freePort()
  url = `http://127.0.0.1:${port}/api/v1`
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder};`,
  )
  const configuration = `
    daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
    events {}
    http {
      access_log off; ${paths.join(' ')}
      server { listen 127.0.0.1:${port}; location / { proxy_pass ${new URL(cluster.info.baseUrl).origin}; } }
    }`
  writeFileSync(join(folder, 'nginx.conf'), configuration)
  nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-p', folder], { stdio: 'inherit' })
  await waitFor(() => fetch(`${url}/openapi.json`).then(({ ok }) => ok))
})
afterAll(async () => {
  if (!isWanted) return
  nginx?.kill()
  if (nginx?.exitCode === null) await once(nginx, 'exit')
  await cluster?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Reads events as a page does: by fetch, and resuming from the last position when the stream ends. */
function readEvents() {
  const closing = new AbortController()
  const events: StreamedEvent[] = []
  let lastId = ''
  let streams = 0

  const readOne = async () => {
    const { apiKey, workspace } = cluster.info
    const headers = { authorization: `Bearer ${apiKey}`, 'x-workspace': workspace }
    const response = await fetch(`${url}/events/stream?type=incident.created`, {
      headers: { ...headers, ...(lastId !== '' && { 'last-event-id': lastId }) },
      signal: closing.signal,
    })
    if (!response.ok || !response.body) return
    streams++
    let text = ''
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = (text + chunk).split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) take(block)
    }
  }
  const take = (block: string) => {
    const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]))
    const [id, data] = [fields.get('id'), fields.get('data')]
    if (fields.get('event') === 'event' && data !== undefined)
      events.push(StreamedEvent.parse(JSON.parse(data)))
    lastId = id ?? lastId
  }
  const reading = (async () => {
    while (!closing.signal.aborted) {
      await readOne().catch(() => {})
      await pace(100)
    }
  })()
  return {
    events,
    streams: () => streams,
    stop: () => {
      closing.abort()
      return reading
    },
  }
}

long('through nginx, and over kills of what sends them, each event comes once and in order', async () => {
  const reader = readEvents()
  await waitFor(() => reader.streams() === 1)
  const load = startCreating(apiClient(cluster.info), { pauseMs: 20, prefix: 'nginx' })
  const { settings } = cluster.services
  try {
    for (let kill = 1; kill <= 3; kill++) {
      const before = reader.events.length
      await waitFor(() => reader.events.length >= before + 10)
      await settings.kill()
      await settings.start()
      await waitFor(() => reader.streams() > kill)
    }
  } finally {
    await load.stop()
  }
  try {
    const wanted = [...load.acknowledged.values()].sort()
    await waitFor(() => reader.events.length >= wanted.length)
    expect(reader.events.map(({ resource }) => resource.id).sort()).toEqual(wanted)
    const places = reader.events.map(({ seq }) => seq)
    expect(places).toEqual([...places].sort((a, b) => a - b))
  } finally {
    await reader.stop()
  }
})
