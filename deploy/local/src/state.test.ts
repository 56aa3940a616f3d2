import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { LocalRunError } from './ports.js'
import { openState } from './state.js'

test('an unusable path of the state folder is rejected with advice', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opsplane-state-'))
  const file = join(folder, 'file')
  writeFileSync(file, '')
  // Not even root can create or write files in /proc.
  for (const path of [file, join(file, 'below'), '/proc', '/proc/opsplane', '/proc/opsplane/below']) {
    expect(() => openState(path)).toThrow(LocalRunError)
    expect(() => openState(path)).toThrow(
      /cannot be the folder of the state \(\w+\)\. Name another one with --home/,
    )
  }
  rmSync(folder, { recursive: true })
})

test('the state folder is created with its parents, and an existing one is left unchanged', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opsplane-state-'))
  const below = join(folder, 'one', 'two')
  const { root, secrets } = openState(below)
  const kept = secrets()
  expect(root).toBe(below)
  expect(openState(below).secrets()).toEqual(kept)
  expect(readdirSync(below)).toEqual(['secrets.json'])
  rmSync(folder, { recursive: true })
})

test('a service added later gets keys and a password, and those of other services stay the same', () => {
  const folder = mkdtempSync(join(tmpdir(), 'opsplane-state-'))
  const state = openState(folder)
  const { serviceKeys, databasePasswords, ...rest } = state.secrets()
  const { itsm: _key, ...keysBefore } = serviceKeys
  const { itsm: _password, ...passwordsBefore } = databasePasswords
  writeFileSync(
    join(folder, 'secrets.json'),
    JSON.stringify({ ...rest, serviceKeys: keysBefore, databasePasswords: passwordsBefore }),
  )
  const completed = state.secrets()
  expect(completed).toMatchObject({ ...rest, serviceKeys: keysBefore, databasePasswords: passwordsBefore })
  expect(completed.serviceKeys.itsm.privateKey).not.toBe(serviceKeys.itsm.privateKey)
  expect(completed.databasePasswords.itsm).toEqual(expect.any(String))
  expect(state.secrets()).toEqual(completed)
  rmSync(folder, { recursive: true })
})
