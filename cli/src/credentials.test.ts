import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { findCredentials, parseBaseUrl } from './credentials.js'
import { createProfiles, type Profile } from './profiles.js'

let folder: string
let env: Record<string, string | undefined>
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'opsplane-cli-'))
  env = { XDG_CONFIG_HOME: join(folder, 'config'), OPSPLANE_HOME: join(folder, 'home') }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const login: Profile = { url: 'https://a.example/api/v1', workspace: 'acme', kind: 'api_key', token: 'ops_a' }
const fromShell = { OPSPLANE_URL: 'https://b.example', OPSPLANE_API_KEY: 'ops_b', OPSPLANE_WORKSPACE: 'beta' }

function startedHere(home = join(folder, 'home')): void {
  mkdirSync(home, { recursive: true })
  const info = {
    origin: 'http://127.0.0.1:1',
    baseUrl: 'http://127.0.0.1:1/api/v1',
    workspace: 'local',
    email: 'o@example.com',
    password: 'p',
    apiKey: 'ops_local',
    postgresUrl: 'postgres://x',
    natsUrl: 'nats://x',
    pid: process.pid,
  }
  writeFileSync(join(home, 'local.json'), JSON.stringify(info))
}

describe('credentials are taken from the first available source', () => {
  test('a named profile before the environment', () => {
    createProfiles(env).save('blue', login)
    const found = findCredentials({ profile: 'blue' }, { ...env, ...fromShell })
    expect(found).toMatchObject({ baseUrl: login.url, token: 'ops_a', workspace: 'acme' })
  })

  test('a named home before the environment', () => {
    const home = join(folder, 'other')
    startedHere(home)
    expect(findCredentials({ home }, { ...env, ...fromShell })).toMatchObject({
      token: 'ops_local',
    })
  })

  test('the environment before the stored login', () => {
    createProfiles(env).save('default', login)
    const found = findCredentials({}, { ...env, ...fromShell, OPSPLANE_ENVIRONMENT: 'staging' })
    expect(found).toEqual({
      baseUrl: 'https://b.example/api/v1',
      token: 'ops_b',
      workspace: 'beta',
      environment: 'staging',
      source: 'environment',
    })
  })

  test('the stored login before the platform started here', () => {
    startedHere()
    createProfiles(env).save('default', login)
    expect(findCredentials({}, env).token).toBe('ops_a')
    createProfiles(env).forget('default')
    expect(findCredentials({}, env)).toMatchObject({ token: 'ops_local', workspace: 'local' })
  })

  test('environment variables override the workspace of a stored login, and options override both', () => {
    createProfiles(env).save('default', { ...login, environment: 'development' })
    const moved = { ...env, OPSPLANE_WORKSPACE: 'beta', OPSPLANE_ENVIRONMENT: 'staging' }
    expect(findCredentials({}, moved)).toMatchObject({ workspace: 'beta', environment: 'staging' })
    expect(findCredentials({ environment: 'production' }, moved).environment).toBe('production')
    expect(findCredentials({ profile: 'default' }, moved)).toMatchObject({
      workspace: 'acme',
      environment: 'development',
    })
  })
})

describe('unusable credentials exit with code 2 and a message that suggests a fix', () => {
  const failure = (options: object, more: object = {}) => {
    try {
      return findCredentials(options, { ...env, ...more })
    } catch (error) {
      return error
    }
  }
  const says = (text: string) => ({ exitCode: 2, message: expect.stringContaining(text) })

  test.each([
    ['nothing at all', {}, {}, 'opsplane login'],
    ['no such profile', { profile: 'red' }, {}, '--profile red'],
    ['no platform in that home', { home: '/nowhere' }, {}, '/nowhere'],
    ['half an environment', {}, { OPSPLANE_API_KEY: 'ops_b' }, 'OPSPLANE_URL and OPSPLANE_WORKSPACE'],
    ['a strange environment', {}, { ...fromShell, OPSPLANE_ENVIRONMENT: 'moon' }, 'production, staging'],
  ])('%s', (_what, options, more, text) => {
    expect(failure(options, more)).toMatchObject(says(text))
  })

  test('a corrupt profiles file', () => {
    createProfiles(env).save('default', login)
    writeFileSync(createProfiles(env).file, '{"profiles":')
    expect(failure({})).toMatchObject(says('log in again'))
  })
})

test('the profiles file is readable by its owner only and written without leftover files', () => {
  const profiles = createProfiles(env)
  mkdirSync(join(folder, 'config', 'opsplane'), { recursive: true, mode: 0o755 })
  profiles.save('default', login)
  profiles.save('second', { ...login, environment: 'staging' })
  expect(profiles.names()).toEqual(['default', 'second'])
  expect(statSync(profiles.file).mode & 0o777).toBe(0o600)
  expect(statSync(join(profiles.file, '..')).mode & 0o777).toBe(0o700)
  expect(readdirSync(join(profiles.file, '..'))).toEqual(['config.json'])
  profiles.forget('default')
  expect(profiles.find('default')).toBeUndefined()
  expect(profiles.find('constructor')).toBeUndefined()
  expect(profiles.find('second')?.environment).toBe('staging')
})

test.each([
  ['https://ops.example', 'https://ops.example/api/v1'],
  ['https://ops.example/', 'https://ops.example/api/v1'],
  ['http://127.0.0.1:8080/api/v1/', 'http://127.0.0.1:8080/api/v1'],
])('%s is parsed as the API URL %s', (text, url) => {
  expect(parseBaseUrl(text)).toBe(url)
})

test.each(['ops.example', 'ftp://ops.example', 'https://u:p@ops.example', 'https://ops.example/?a=1'])(
  '%s is rejected as the URL of a platform',
  (text) => {
    expect(() => parseBaseUrl(text)).toThrow(expect.objectContaining({ exitCode: 2 }))
  },
)
