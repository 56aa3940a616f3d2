import { expect, test } from '@jest/globals'
import { type FileProfile, followRun } from './profile.js'
import { describeRun } from './profile-reporter.js'

const spent = (wallMs: number, cpuMs: number) => ({ wallMs, cpuMs })
const profile = (wallMs: number, fixtures: FileProfile['fixtures'] = {}): FileProfile => ({
  ...{ total: spent(wallMs, wallMs / 2), imports: spent(0, 0), setUp: spent(wallMs / 4, 0) },
  ...{ tearDown: spent(0, 0), fixtures },
})

test('the profile of a run lists the most expensive files and fixtures, and the share of set-up', () => {
  const files = [
    { file: 'cheap.test.js', ...profile(1_000) },
    { file: 'dear.test.js', ...profile(9_000, { database: { ...spent(500, 100), count: 2 } }) },
    { file: 'third.test.js', ...profile(2_000, { database: { ...spent(1_000, 100), count: 1 } }) },
  ]
  const lines = describeRun(spent(8_000, 10_000), files).split('\n')
  expect(lines[1]).toMatch(/^ +8\.0 +10\.0 {2}the run/)
  expect(lines.find((line) => line.includes('setUp'))).toContain('(25 %)')
  expect(lines.filter((line) => line.endsWith('.test.js')).map((line) => line.split(' ').at(-1))).toEqual([
    'dear.test.js',
    'third.test.js',
    'cheap.test.js',
  ])
  expect(lines.at(-1)).toMatch(/^ +1\.5 +0\.2 +3 × database$/)
})

test('the time of hooks before and after all tests of a file is measured separately', () => {
  const measured = profile(0)
  const event = followRun(measured)
  event({ name: 'run_start' })
  event({ name: 'hook_start', hook: { type: 'beforeEach' } })
  event({ name: 'hook_success', hook: { type: 'beforeEach' } })
  expect(measured.tearDown.wallMs).toBe(0)
  event({ name: 'hook_start', hook: { type: 'afterAll' } })
  event({ name: 'hook_failure', hook: { type: 'afterAll' } })
  expect(measured.imports.wallMs).toBeGreaterThan(0)
  expect(measured.tearDown.wallMs).toBeGreaterThan(0)
})
