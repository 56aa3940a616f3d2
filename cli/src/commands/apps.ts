import type { Command } from 'commander'
import { connect } from '../connect.js'
import type { Io } from '../io.js'
import { installSample, listSampleNames, readSample } from '../sample-app.js'

export function addAppCommands(program: Command, io: Io): void {
  const apps = program
    .command('apps')
    .description('install sample apps')
    .addHelpText('after', '\nExamples:\n  $ opsplane apps install-sample asset-register')

  apps
    .command('install-sample <name>')
    .description(`make and deploy an app with what it needs: ${listSampleNames().join(', ')}`)
    .option('--slug <slug>', 'in its address, instead of its own')
    .option('--embeddable', 'let embed tokens be made of it')
    .addHelpText(
      'after',
      `
Tables and workflows it needs are made as well, unless there are some of the same name.

Examples:
  $ opsplane apps install-sample asset-register
  $ opsplane apps install-sample incident-intake --environment staging --slug help`,
    )
    .action(async (name: string, options: { slug?: string; embeddable?: true }, command: Command) => {
      const { api, printer, credentials } = connect(io, command)
      const sample = readSample(name)
      const installed = await installSample(api, sample, {
        ...{ slug: options.slug, embeddable: options.embeddable ?? false, say: printer.say },
      })
      const url = addressOf(credentials, installed.slug)
      printer.one({ ...installed, url }, [
        ['app', installed.id],
        ['deployment', installed.deployment],
        ['open', url],
      ])
    })
}

/** The URL of an app in a browser. */
function addressOf(
  {
    baseUrl,
    workspace,
    environment,
  }: { baseUrl: string; workspace: string; environment?: string | undefined },
  slug: string,
): string {
  const url = new URL(`/apps/${encodeURIComponent(workspace)}/${encodeURIComponent(slug)}`, baseUrl)
  if (environment !== undefined && environment !== 'production')
    url.searchParams.set('environment', environment)
  return url.href
}
