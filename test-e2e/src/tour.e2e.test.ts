import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { runDemo } from '@opsplane/local'
import { joinPlatform } from './shared/platform.js'

interface Step {
  page: string
  /** The text before the commands. */
  about: string
  commands: string
}

const isRefused = /answered with the error/

/** The commands of a page that call the API, as readers copy them. */
function stepsOf(page: string): Step[] {
  const blocks = readFileSync(resolve(page), 'utf8').split('```sh\n')
  return blocks.slice(1).flatMap((part, at) => {
    const [commands = ''] = part.split('```')
    const about = blocks[at]?.split('\n```\n').at(-1)?.trim() ?? ''
    return /^(\w+=\$\()?api |^api\(\)/m.test(commands) ? [{ page, about, commands }] : []
  })
}

const guides = readdirSync('docs/guide').map((name) => `docs/guide/${name}`)
const pages = ['README.md', 'docs/tour.md', ...guides]
const steps = pages.flatMap(stepsOf)
const folder = mkdtempSync(join(tmpdir(), 'opsplane-tour-'))
let outputs: { out: string[]; errors: string }

beforeAll(async () => {
  const { info, certificate } = await joinPlatform()
  await runDemo({ info, certificate, say: () => {} })
  mkdirSync(join(folder, '.opsplane'))
  writeFileSync(join(folder, '.opsplane', 'local.json'), JSON.stringify(info))
  outputs = await run(steps.map(({ commands }) => commands))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const mark = '--- next step ---'

/**
 * Runs all commands in one shell, one after the other; their background processes end with it. The shell writes to
 * files: Node makes a pipe that it shares with curl non-blocking, and curl then fails when the pipe is full.
 */
async function run(scripts: string[]) {
  const script = `${scripts.join(`\necho '${mark}'\n`)}\n{ kill $(jobs -p); wait; } 2>/dev/null\n`
  const [out, errors] = [join(folder, 'out'), join(folder, 'errors')]
  const files = [out, errors].map((file) => openSync(file, 'w'))
  const shell = spawn('bash', ['-s'], { cwd: folder, stdio: ['pipe', ...files] })
  shell.stdin?.end(script)
  await once(shell, 'close')
  for (const file of files) closeSync(file)
  return { out: readFileSync(out, 'utf8').split(`${mark}\n`), errors: readFileSync(errors, 'utf8') }
}

test('every page of the documentation has commands, without placeholders', () => {
  expect(new Set(steps.map(({ page }) => page))).toEqual(new Set(pages))
  expect(steps.filter(({ commands }) => commands.includes('…'))).toEqual([])
})

test('all commands of README, the tour and the guide succeed after the demo', () => {
  expect(outputs.errors).toBe('')
  const failed = steps.flatMap(({ about }, at) => {
    const errors = (outputs.out[at] ?? 'did not run')
      .split('\n')
      .filter((line) => /^\{"error":\{|^did not run/.test(line))
    return isRefused.test(about) ? [] : errors.map((line) => `${about}: ${line}`)
  })
  expect(failed).toEqual([])
})

test('commands documented as rejected are rejected', () => {
  const refused = steps.flatMap(({ about }, at) => (isRefused.test(about) ? [outputs.out[at] ?? ''] : []))
  expect(refused.map((out) => out.match(/^\{"error":\{/gm)?.length)).toEqual([3])
})
