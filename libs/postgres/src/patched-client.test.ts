import { expect, test } from '@jest/globals'
import postgres from 'postgres'
import { assertPatchedClient } from './patched-client.js'

test('a client without the patch is refused by name before it is used', () => {
  const begin = async (connection: { onclose?: unknown }) =>
    new Promise((_, reject) => {
      connection.onclose = reject
    })
  expect(() => assertPatchedClient({ begin })).toThrow(/lacks patches\/postgres@3\.4\.9\.patch.*pnpm.*008/)
})

test('the one that is installed here has it', async () => {
  const client = postgres('postgres://unknown@127.0.0.1:1/none')
  await client.end()
  expect(() => assertPatchedClient(client)).not.toThrow()
})
