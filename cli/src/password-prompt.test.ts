import { PassThrough } from 'node:stream'
import { expect, test } from '@jest/globals'
import { promptSecret } from './password-prompt.js'

function terminal() {
  const modes: boolean[] = []
  const stream = new PassThrough()
  const said: string[] = []
  const fake = Object.assign(stream, { setRawMode: (raw: boolean) => modes.push(raw) })
  const answer = promptSecret(fake, (text) => said.push(text), 'Password: ')
  return { type: (text: string) => stream.write(text), answer, modes, said }
}

test('does not echo the password, and supports Ctrl-U and backspace', async () => {
  const { type, answer, modes, said } = terminal()
  type('wrong\u0015hunter')
  type('3\u007f2\r')
  expect(await answer).toBe('hunter2')
  expect(said.join('')).toBe('Password: \n')
  expect(modes).toEqual([true, false])
})

test('Ctrl-C rejects the prompt and restores the terminal mode', async () => {
  const { type, answer, modes } = terminal()
  type('hun\u0003')
  await expect(answer).rejects.toMatchObject({ exitCode: 1 })
  expect(modes).toEqual([true, false])
})
