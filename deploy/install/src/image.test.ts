import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'

/**
 * Takes minutes and needs a Docker engine that has the base images or can pull them; only with TEST_IMAGE, as `npm
 * run test:long` sets.
 */
const bases = ['node:26-bookworm-slim', 'postgres:17-bookworm', 'nats:2.14-alpine']
const succeeds = (...args: string[]) => spawnSync('docker', args).status === 0
const isThere = (base: string) => succeeds('image', 'inspect', base) || succeeds('pull', base)
const described = process.env.TEST_IMAGE === '1' && bases.every(isThere) ? describe : describe.skip

const root = fileURLToPath(new URL('../../..', import.meta.url))
const image = 'opsplane/opsplane:0.2.0'
const project = 'opsplane-image-test'
const port = '18080'
const maxCompressedBytes = 130_000_000

function run(program: string, ...args: string[]): string {
  const env = { ...process.env, OPSPLANE_PORT: port }
  const options = { cwd: root, env, encoding: 'utf8', maxBuffer: 1e8 } as const
  const { status, stdout, stderr, error } = spawnSync(program, args, options)
  if (error) throw error
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
  return `${stdout}${stderr}`
}
const docker = (...args: string[]) => run('docker', ...args)
/** Whether the compose plugin is installed; the older `docker-compose` program is used otherwise. */
const plugin = spawnSync('docker', ['compose', 'version']).status === 0
const compose = (...args: string[]) => {
  const all = ['--project-name', project, '--file', 'deploy/compose.yaml', ...args]
  return plugin ? docker('compose', ...all) : run('docker-compose', ...all)
}

const Inspected = z
  .tuple([
    z.object({
      Config: z.object({
        User: z.string(),
        Labels: z.record(z.string(), z.string()),
        Healthcheck: z.object({}),
      }),
    }),
  ])
  .transform(([{ Config }]) => Config)

described('the image', () => {
  beforeAll(() => {
    const network = process.env.TEST_IMAGE_NETWORK ? ['--network', process.env.TEST_IMAGE_NETWORK] : []
    docker('build', ...network, '--file', 'deploy/Dockerfile', '--tag', image, '.')
  })
  afterAll(() => void compose('--profile', 'demo', 'down', '--volumes'), 600_000)

  test('is below the size limit, has labels, and runs as an unprivileged user', () => {
    const { User, Labels } = Inspected.parse(JSON.parse(docker('image', 'inspect', image)))
    expect(User).toBe('65532:65532')
    expect(Labels).toMatchObject({ 'org.opencontainers.image.title': 'Opsplane' })
    const bytes = Number(run('sh', '-c', `docker save ${image} | gzip -6 | wc -c`))
    expect(bytes).toBeLessThan(maxCompressedBytes)
  })

  test('runs a command, and reports a missing variable of a service', () => {
    expect(docker('run', '--rm', '--read-only', image, 'secrets', '--help')).toContain('--nats')
    expect(() => docker('run', '--rm', '--read-only', image, 'itsm')).toThrow('DATABASE_URL is missing')
  })

  test('starts the whole platform, and delivers a signed webhook', () => {
    compose('up', '--detach', '--no-build')
    expect(compose('run', '--rm', '--name', 'demo', 'demo')).toContain('The signature verifies')
    expect(compose('logs', '--no-color', 'ready')).toContain(
      `API reference  http://localhost:${port}/api/v1/docs`,
    )
  })
})
