import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { createSealer, masterKeyId, parseKeyGeneration, wrappingKeyId } from './index.js'

const [oldKey, newKey] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string]
const place = 'ws_1|stripe|1'
/** Workspace and generation. */
const id = 'ws_1:1'

describe('a sealed value', () => {
  const sealer = createSealer(oldKey)

  test('opens only in its own place and with its own data key', () => {
    const wrapped = sealer.newDataKey(id)
    const sealed = sealer.seal({ id, generation: 1, wrapped }, 'hunter2', place)
    expect(sealed).not.toContain('hunter2')
    expect(sealer.open({ id, wrapped }, sealed, place)).toBe('hunter2')
    expect(() => sealer.open({ id, wrapped }, sealed, 'ws_1|stripe|2')).toThrow()
    expect(() => sealer.open({ id, wrapped: sealer.newDataKey(id) }, sealed, place)).toThrow()
  })

  test.each([1, 2, 17])('names generation %i of its data key', (generation) => {
    const wrapped = sealer.newDataKey(id)
    const sealed = sealer.seal({ id, generation, wrapped }, 'hunter2', place)
    expect(parseKeyGeneration(sealed)).toBe(generation)
    expect(sealer.open({ id, wrapped }, sealed, place)).toBe('hunter2')
  })

  test('is rejected with a shortened tag', () => {
    const wrapped = sealer.newDataKey(id)
    const [version, iv, tag = '', text] = sealer
      .seal({ id, generation: 1, wrapped }, 'hunter2', place)
      .split('.')
    const short = Buffer.from(tag, 'base64url').subarray(0, 4).toString('base64url')
    expect(() => sealer.open({ id, wrapped }, [version, iv, short, text].join('.'), place)).toThrow()
  })

  test.each(['', 'plain', 'v2.0.a.b.c', 'v2.x.a.b.c', 'v3.a.b.c'])(
    'is rejected if it is malformed: %j',
    (text) => {
      expect(() => sealer.open({ id, wrapped: sealer.newDataKey(id) }, text, place)).toThrow(
        'not a sealed value',
      )
    },
  )
})

describe('a wrapped data key', () => {
  const [before, during, after] = [createSealer(oldKey), createSealer(newKey, [oldKey]), createSealer(newKey)]

  test('names the master key that wrapped it, without revealing it', () => {
    const wrapped = before.newDataKey(id)
    expect(wrappingKeyId(wrapped)).toBe(masterKeyId(oldKey))
    expect(before.keyId).toMatch(/^[0-9a-f]{8}$/)
    expect(Buffer.from(oldKey, 'base64').toString('hex')).not.toContain(before.keyId)
    expect(during.keyIds).toEqual([after.keyId, before.keyId])
  })

  test('opens with a previous master key, while new ones are wrapped by the current master key', () => {
    const wrapped = before.newDataKey(id)
    const sealed = before.seal({ id, generation: 1, wrapped }, 'hunter2', place)
    expect(during.open({ id, wrapped }, sealed, place)).toBe('hunter2')
    expect(wrappingKeyId(during.newDataKey(id))).toBe(after.keyId)
  })

  test('is the same data key after it is rewrapped, under the current master key', () => {
    const wrapped = before.newDataKey(id)
    const sealed = before.seal({ id, generation: 1, wrapped }, 'hunter2', place)
    const rewrapped = during.rewrap({ id, wrapped })
    expect(wrappingKeyId(rewrapped)).toBe(after.keyId)
    expect(after.open({ id, wrapped: rewrapped }, sealed, place)).toBe('hunter2')
    expect([before, during, after].map((sealer) => sealer.unwraps({ id, wrapped: rewrapped }))).toEqual([
      false,
      true,
      true,
    ])
    expect([before, during, after].map((sealer) => sealer.unwraps({ id, wrapped }))).toEqual([
      true,
      true,
      false,
    ])
  })

  test('names the missing master key in its error', () => {
    const wrapped = before.newDataKey(id)
    const complaint = `wrapped by master key ${before.keyId}, this process has ${after.keyId}`
    expect(() => after.seal({ id, generation: 1, wrapped }, 'x', place)).toThrow(complaint)
    expect(() => after.rewrap({ id, wrapped })).toThrow(complaint)
  })

  test('does not open after it was tampered with', () => {
    const wrapped = before.newDataKey(id)
    const [version, , ...parts] = wrapped.split('.')
    expect(during.unwraps({ id, wrapped: [version, after.keyId, ...parts].join('.') })).toBe(false)
    expect(before.unwraps({ id, wrapped: `${wrapped}AAAA` })).toBe(false)
    expect(before.unwraps({ id, wrapped: 'nonsense' })).toBe(false)
  })

  test.each(['ws_2:1', 'ws_1:2'])('cannot be opened or rewrapped when it is moved to %s', (elsewhere) => {
    const moved = { id: elsewhere, wrapped: before.newDataKey(id) }
    expect(before.unwraps(moved)).toBe(false)
    expect(() => during.rewrap(moved)).toThrow()
  })

  test('requires master keys of 32 bytes', () => {
    const short = randomBytes(16).toString('base64')
    expect(() => createSealer(short)).toThrow('32 bytes')
    expect(() => createSealer(newKey, [short])).toThrow('32 bytes')
    expect(() => createSealer(newKey, [short])).not.toThrow(short)
  })
})
