import { expect, test } from '@jest/globals'
import { headers, Match } from '@nats-io/transport-node'

// The patch of nats-core (ADR 114) does not change this behaviour.

test('an exact name returns its own values, in their order', () => {
  const made = headers()
  made.append('Opsplane-Stream', 'one')
  made.append('opsplane-stream', 'another')
  made.append('Opsplane-Stream', ' two ')
  expect(made.get('Opsplane-Stream')).toBe('one')
  expect(made.last('Opsplane-Stream')).toBe('two')
  expect(made.values('Opsplane-Stream')).toEqual(['one', 'two'])
  expect([made.get('OPSPLANE-STREAM'), made.has('OPSPLANE-STREAM')]).toEqual(['', false])
  expect(made.keys()).toEqual(['Opsplane-Stream', 'opsplane-stream'])
})

test('names of prototype properties are treated like any other name', () => {
  const made = headers()
  expect(made.get('constructor')).toBe('')
  made.set('__proto__', 'mine')
  expect(made.get('__proto__')).toBe('mine')
})

test('a lookup that ignores case uses the first name that matches', () => {
  const made = headers()
  made.append('nats-msg-id', 'first')
  made.append('Nats-Msg-Id', 'second', Match.IgnoreCase)
  expect(made.values('NATS-MSG-ID', Match.IgnoreCase)).toEqual(['first', 'second'])
  made.set('nats-msg-id', 'canonical', Match.CanonicalMIME)
  expect(made.get('Nats-Msg-Id')).toBe('canonical')
})

test('rejects an invalid name or value each time', () => {
  const made = headers()
  for (const name of ['with space', 'colon:', 'schlüssel', 'with space'])
    expect(() => made.set(name, 'value')).toThrow()
  for (const value of ['a\rb', 'a\nb']) expect(() => made.set('Name', value)).toThrow()
  expect(made.keys()).toEqual([])
})
