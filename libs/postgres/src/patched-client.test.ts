import { expect, test } from '@jest/globals'
import postgres from 'postgres'
import { assertPatchedClient } from './patched-client.js'

test('rejects a client without the patch before it is used, and names the patch', () => {
  const begin = async (connection: { onclose?: unknown }) =>
    new Promise((_, reject) => {
      connection.onclose = reject
    })
  expect(() => assertPatchedClient({ begin })).toThrow(/lacks patches\/postgres@3\.4\.9\.patch.*pnpm.*008/)
})

test('accepts the installed client, which has the patch', async () => {
  const client = postgres('postgres://unknown@127.0.0.1:1/none')
  await client.end()
  expect(() => assertPatchedClient(client)).not.toThrow()
})
