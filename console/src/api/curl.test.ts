import { execFileSync } from 'node:child_process'
import { expect, test } from '@jest/globals'
import { formatCurl } from './curl.js'

const place = { workspace: 'acme', environment: 'staging' } as const

/** The arguments that a shell makes of the command, with a token in the variable. */
function argumentsOf(command: string): string[] {
  const program = command.replace(/^curl/, 'printf "%s\\n"')
  const env = { OPSPLANE_TOKEN: 'ops_key', PATH: process.env.PATH }
  return execFileSync('sh', ['-c', program], { env, encoding: 'utf8' }).trimEnd().split('\n')
}

test('the curl command is quoted so that a shell passes the exact request to curl', () => {
  const hostile = `$(id) \`id\` "it's"`
  const command = formatCurl('https://ops.example.com', place, {
    method: 'POST',
    path: '/api/v1/itsm/incidents',
    query: { status: ['failed', 'held'], after: undefined, type: hostile },
    body: { title: hostile },
  })
  expect(argumentsOf(command)).toEqual([
    '-X',
    'POST',
    `https://ops.example.com/api/v1/itsm/incidents?${new URLSearchParams({ status: 'failed,held', type: hostile })}`,
    '-H',
    'Authorization: Bearer ops_key',
    '-H',
    'X-Workspace: acme',
    '-H',
    'X-Environment: staging',
    '-H',
    'Content-Type: application/json',
    '-d',
    JSON.stringify({ title: hostile }),
  ])
})

test('the curl command of a GET request has neither a method nor a body', () => {
  expect(argumentsOf(formatCurl('http://localhost:8080', place, { path: '/api/v1/webhooks' }))[0]).toBe(
    'http://localhost:8080/api/v1/webhooks',
  )
})
