import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLogger, createReleasers } from '@opsplane/runtime'
import { freePort, startServerProcess } from '@opsplane/runtime/server-process'
import { waitFor } from '@opsplane/testing'
import { Agent, request } from 'undici'

export interface ControlPlane {
  /** Path of the kubeconfig for programs that need one, such as helm. */
  kubeconfig: string
  /**
   * Sends a request with a JSON body to the API server as its administrator. Throws with the response if it is an
   * error.
   */
  ask<T>(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<T>
  stop(): Promise<void>
}

export interface ControlPlanePrograms {
  /** etcd, API server, controllers and scheduler in one program, selected by its first argument. */
  kubernetes: string
  /** Reports the status of nodes and pods as a kubelet would, without running anything. */
  kwok: string
}

/** Kubernetes on 127.0.0.1 without machines: everything is real except the nodes and their containers. */
export async function startControlPlane(
  folder: string,
  programs: ControlPlanePrograms,
): Promise<ControlPlane> {
  const releasers = createReleasers(createLogger({ service: 'control-plane', level: 'silent' }))
  const start = async (name: string, command: string, args: string[]) => {
    const server = await startServerProcess({ command, args, stopSignal: 'SIGTERM' })
    releasers.add(name, () => server.stop())
    return server
  }
  mkdirSync(folder, { recursive: true })
  const files = writeFiles(folder, await freePort())
  const { url, token, kubeconfig } = files
  const agent = new Agent({ connect: { rejectUnauthorized: false } })
  releasers.add('connections', () => agent.close())
  const ask = async <T>(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<T> => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const headers = { authorization: `Bearer ${token}`, 'content-type': type }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await request(`${url}${path}`, { method, headers, ...sent, dispatcher: agent })
    const text = await answer.body.text()
    if (answer.statusCode >= 300)
      throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 500)}`)
    return (text.startsWith('{') ? JSON.parse(text) : text) as T
  }
  const stop = () => releasers.release()
  try {
    const etcd = await startEtcd(folder, (args) => start('etcd', programs.kubernetes, ['etcd', ...args]))
    const server = await start('API server', programs.kubernetes, apiServerArguments(folder, files, etcd))
    await waitFor(() => ask('GET', '/readyz')).catch((cause: unknown) => {
      throw new Error(`The API server is not ready:\n${server.logTail()}`, { cause })
    })
    const common = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0']
    const signing = `--service-account-private-key-file=${join(folder, 'accounts.key')}`
    await start('controllers', programs.kubernetes, ['controllers', ...common, signing])
    await start('scheduler', programs.kubernetes, ['scheduler', ...common])
    // Without leases the controllers would consider nodes dead between two of their reports.
    const nodes = ['--manage-all-nodes=true', '--node-lease-duration-seconds=40']
    await start('kwok', programs.kwok, [`--kubeconfig=${kubeconfig}`, ...nodes])
    for (const name of ['one', 'two']) await ask('POST', '/api/v1/nodes', nodeOf(name))
    return { kubeconfig, ask, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Files {
  port: number
  url: string
  token: string
  kubeconfig: string
}

function writeFiles(folder: string, port: number): Files {
  const at = (name: string) => join(folder, name)
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  writeFileSync(at('accounts.key'), privateKey)
  writeFileSync(at('accounts.pub'), publicKey)
  const token = randomBytes(16).toString('hex')
  writeFileSync(at('tokens.csv'), `${token},operator,operator,system:masters\n`)
  const url = `https://127.0.0.1:${port}`
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'here' },
    clusters: [{ name: 'here', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'operator', user: { token } }],
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'operator' } }],
  }
  const kubeconfig = at('kubeconfig')
  writeFileSync(kubeconfig, JSON.stringify(config))
  return { port, url, token, kubeconfig }
}

async function startEtcd(folder: string, start: (args: string[]) => Promise<unknown>): Promise<string> {
  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  await start([
    ...['--data-dir', join(folder, 'etcd'), '--log-level', 'error', '--unsafe-no-fsync'],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ...['--initial-cluster', `default=${peer}`],
  ])
  return client
}

const apiServerArguments = (folder: string, { port }: Files, etcd: string) => [
  'apiserver',
  ...[`--etcd-servers=${etcd}`, `--cert-dir=${folder}`, '--bind-address=127.0.0.1', `--secure-port=${port}`],
  ...['--service-cluster-ip-range=10.0.0.0/16', `--token-auth-file=${join(folder, 'tokens.csv')}`],
  ...['--authorization-mode=RBAC', '--service-account-issuer=https://kubernetes.default.svc'],
  `--service-account-key-file=${join(folder, 'accounts.pub')}`,
  `--service-account-signing-key-file=${join(folder, 'accounts.key')}`,
]

/** Nodes large enough for all requests of the examples. */
const nodeOf = (name: string) => {
  const resources = { cpu: '64', memory: '256Gi', pods: '500', 'ephemeral-storage': '1Ti' }
  const labels = {
    ...{ 'kubernetes.io/os': 'linux', 'kubernetes.io/hostname': name },
    'topology.kubernetes.io/zone': name,
  }
  return {
    ...{ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } },
    status: { capacity: resources, allocatable: resources },
  }
}
