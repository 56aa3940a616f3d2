import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { StateMachine } from '@opsplane/contracts'
import { stateMachine } from './state-machine.js'
import { stateMachines } from './state-machines.js'

const readme = readFileSync(new URL('../../../../docs/itsm.md', import.meta.url), 'utf8')

describe.each(stateMachines.map((machine) => ({ ...machine })))('the state machine of $entity', (machine) => {
  it('matches the API schema, and uses only declared statuses', () => {
    expect(StateMachine.parse(machine)).toEqual(machine)
    const names = machine.statuses.map(({ name }) => name)
    for (const { from, to } of machine.transitions)
      expect(names).toEqual(expect.arrayContaining([from, ...to]))
  })

  it('reaches every status, and has a final status or a transition from each', () => {
    const [first] = machine.statuses
    const reached = new Set([first?.name])
    for (let size = 0; size < reached.size; ) {
      size = reached.size
      for (const { from, to } of machine.transitions)
        if (reached.has(from)) for (const name of to) reached.add(name)
    }
    expect([...reached].sort()).toEqual(machine.statuses.map(({ name }) => name).sort())
  })

  it('is documented in docs/itsm.md with every action', () => {
    const documented = machine.actions.filter((action) =>
      new RegExp(`^\\| \`?${action}\`? +\\|`, 'm').test(readme),
    )
    expect(documented).toEqual(machine.actions)
  })
})

it('shows transitions to several statuses, and their conditions', () => {
  const machine = stateMachine('thing', ['a', 'b'], {
    go: { a: { one: ['b'], two: ['a', 'b'] } },
    end: { a: { to: 'b', only: 'big' } },
  })
  expect(machine.transitions).toEqual([
    { action: 'go', from: 'a', to: ['b'], condition: 'one' },
    { action: 'go', from: 'a', to: ['a', 'b'], condition: 'two' },
    { action: 'end', from: 'a', to: ['b'], condition: 'big' },
  ])
  expect(machine.statuses).toEqual([
    { name: 'a', final: false },
    { name: 'b', final: true },
  ])
})
