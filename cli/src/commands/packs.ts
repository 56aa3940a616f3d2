import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { manifestFile, Pack, PackCheck, PackName, stringifyExact } from '@opsplane/contracts'
import type { Command } from 'commander'
import { connect, formatPath, printerFor } from '../connect.js'
import { CliError, usageError } from '../failure.js'
import type { Io } from '../io.js'
import { collect, type PagingOptions, withPaging } from '../options.js'
import { checkLines, packColumns, permissionLines, problemLine, testLines } from './pack-text.js'

/** Loads compiler, bundler and sandbox only when needed, because loading them takes longer than most commands. */
const tools = () => import('../packs/tools.js')

export function addPackCommands(program: Command, io: Io): void {
  const packs = program
    .command('packs')
    .description('write, check, test and install packs of artifacts')
    .addHelpText(
      'after',
      '\nExamples:\n  $ opsplane packs init my-pack\n  $ opsplane packs test my-pack\n  $ opsplane packs install my-pack --grant',
    )
  addWriting(packs, io)
  addInstalling(packs, io)
}

function addWriting(packs: Command, io: Io): void {
  packs
    .command('init <folder>')
    .description('begin a pack: one artifact with a test, and what an editor needs')
    .option('--name <name>', 'of the pack; that of the folder unless given')
    .action(
      async (folder: string, { name = basename(resolve(folder)) }: { name?: string }, command: Command) => {
        if (!PackName.safeParse(name).success)
          throw usageError(
            `${name} is no name of a pack: lower-case letters, digits and inner hyphens or dots.`,
          )
        const { createPackFolder: beginPack } = await tools()
        const files = beginPack(folder, name)
        const next = `Next: opsplane packs test ${folder}`
        printerFor(io, command).text({ name, files }, [...files.map((path) => `wrote ${path}`), next])
      },
    )

  packs
    .command('check [folder]')
    .description('find out what is wrong with a pack, and what it asks for; on this machine alone')
    .action(async (folder = '.', _options: object, command: Command) => {
      const printer = printerFor(io, command)
      const {
        findCompileProblems: compileProblems,
        mergePermissions,
        readFolder,
        readPack,
        findTypeProblems: typeProblems,
        withSandbox,
      } = await tools()
      const pack = await readFolder(folder)
      const { artifacts } = readPack(pack)
      const typeErrors = await typeProblems(folder, pack.sources)
      const compiled = await withSandbox((runner) => compileProblems(runner, pack))
      const problems = [...pack.problems, ...(typeErrors ?? []), ...compiled]
      const requestedPermissions = mergePermissions(artifacts.map(({ permissions }) => permissions))
      const hint =
        typeErrors === undefined ? ['TypeScript is not installed there, so types were not checked.'] : []
      printer.text({ problems, asks: requestedPermissions }, [
        ...problems.map(problemLine),
        ...hint,
        ...permissionLines(requestedPermissions),
      ])
      if (problems.length > 0) throw new CliError(`${problems.length} to be fixed.`, 1)
    })

  packs
    .command('test [folder]')
    .description('run the tests of a pack in the sandbox of the platform, on this machine')
    .option('--artifact <slug>', 'only those of this one')
    .addHelpText('after', '\nNothing is called outside: tests say what host functions give.')
    .action(async (folder = '.', { artifact }: { artifact?: string }, command: Command) => {
      const printer = printerFor(io, command)
      const { readFolder, readPack, runTests, withSandbox } = await tools()
      const pack = await readFolder(folder)
      refuse(pack.problems.map(problemLine), printer.say)
      const chosen = readPack(pack).artifacts.filter(
        ({ slug }) => artifact === undefined || slug === artifact,
      )
      if (chosen.length === 0) throw usageError(`There is no artifact ${artifact} in ${folder}.`)
      let failed = 0
      await withSandbox(async (runner) => {
        for (const each of chosen) {
          const { results, problems } = await runTests(runner, each)
          refuse(problems.map(problemLine), printer.say)
          failed += results.filter(({ passed }) => !passed).length
          for (const result of results)
            printer.text({ artifact: each.slug, ...result }, testLines(each.slug, result))
        }
      })
      if (failed > 0) throw new CliError(`${failed} failed.`, 1)
    })
}

function refuse(problems: readonly string[], report: (text: string) => void): void {
  if (problems.length === 0) return
  for (const problem of problems) report(problem)
  throw new CliError(`${problems.length} to be fixed.`, 1)
}

interface InstallFlags {
  available?: true
  integrity?: string
  grant?: true
  downgrade?: true
  force?: true
  dryRun?: true
}

const installMs = 60_000

function addInstalling(packs: Command, io: Io): void {
  packs
    .command('install <pack>')
    .description('install a pack: a folder, a tarball (.tgz), or with --available one of the platform')
    .option('--available', 'it is the name of one of the platform’s own')
    .option('--integrity <hash>', 'what the tarball has to be: sha512-…')
    .option('--grant', 'grant all it asks for; without, what that is is shown and nothing installed')
    .option('--downgrade', 'although a newer version is installed')
    .option('--force', 'although something uses artifacts it no longer has')
    .option('--dry-run', 'only show what it would do')
    .addHelpText(
      'after',
      '\nExamples:\n  $ opsplane packs install . --dry-run\n  $ opsplane packs install itsm-essentials --available --grant',
    )
    .action(async (pack: string, flags: InstallFlags, command: Command) => {
      const { api, printer } = connect(io, command)
      const body = await bodyOf(pack, flags)
      const call = { method: 'POST', extraTimeMs: installMs } as const
      const check = await api.one(PackCheck, { ...call, path: '/sdk/packs/check', body })
      if (flags.dryRun) return printer.text(check, checkLines(check))
      refuse(check.problems.map(problemLine), printer.say)
      const lines = permissionLines(check.asks)
      if (lines.length > 1 && !flags.grant) {
        for (const line of lines) printer.say(line)
        throw new CliError('Nothing was installed. Add --grant to grant what the pack asks for.', 1)
      }
      const { downgrade, force } = flags
      const installed = await api.one(Pack, {
        ...call,
        path: '/sdk/packs/install',
        body: { ...body, grant: check.asks, downgrade, force },
      })
      printer.one(
        installed,
        packColumns.map(({ title, value }) => [title, value(installed)]),
      )
    })

  withPaging(packs.command('list'))
    .description('list the packs that are installed')
    .action(async (options: PagingOptions, command: Command) => {
      const connection = connect(io, command)
      connection.printer.list(await collect(connection, Pack, { path: '/sdk/packs' }, options), packColumns)
    })

  packs
    .command('uninstall <pack>')
    .description('uninstall a pack by its name or id; its artifacts go with it')
    .option('--force', 'although something uses them')
    .action(async (name: string, { force }: { force?: true }, command: Command) => {
      const { api, printer } = connect(io, command)
      const { id } = await api.one(Pack, { path: formatPath`/sdk/packs/${name}` })
      await api.none({
        ...{ method: 'DELETE', path: formatPath`/sdk/packs/${id}` },
        ...(force && { query: { force: 'true' } }),
      })
      printer.text({ id }, [`uninstalled ${name}`])
    })
}

async function bodyOf(pack: string, { available, integrity }: InstallFlags): Promise<object> {
  if (available) return { available: pack }
  const { computeIntegrity, packTarball, readFolder } = await tools()
  if (/\.(tgz|tar\.gz)$/.test(pack)) {
    const bytes = readFileSync(pack)
    return { tarball: bytes.toString('base64'), integrity: integrity ?? computeIntegrity(bytes) }
  }
  const { manifest, files, problems } = await readFolder(pack)
  if (problems.length > 0) throw new CliError(problems.map(problemLine).join('; '), 1)
  const bytes = await packTarball({ ...files, [manifestFile]: stringifyExact(manifest) })
  return { tarball: bytes.toString('base64'), integrity: computeIntegrity(bytes) }
}
