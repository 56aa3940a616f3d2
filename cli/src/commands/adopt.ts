import type { Command } from 'commander'
import { globalOptions, printerFor } from '../connect.js'
import { resolveHome } from '../credentials.js'
import type { Io } from '../io.js'
import { type OperationOptions, withOps } from './with-ops.js'

interface AdoptOptions extends OperationOptions {
  moved?: true
  streams?: true
}

/** Claims the names of an installation on shared servers. Works directly on the servers, not through the API. */
export function addAdoptCommand(program: Command, io: Io): void {
  program
    .command('adopt')
    .description('give the databases to an installation whose names no other has on their server')
    .option('--database-url <url>', 'Postgres, as a superuser, without a pooler between (DATABASE_URL)')
    .option('--nats-url <url>', 'NATS server, as the operator (NATS_URL)')
    .option('--nats-prefix <prefix>', 'prefix of the installation (NATS_PREFIX)')
    .option('--moved', 'the database was moved, and the one it was copied from is gone: the id stays')
    .option('--streams', 'streams that are marked as of another installation are of this one from now on')
    .addHelpText('after', `\n${help}`)
    .action((options: AdoptOptions, command: Command) =>
      withOps(async (ops) => {
        const home = resolveHome(globalOptions(command).home, io.env)
        const printer = printerFor(io, command)
        const task = {
          moved: options.moved ?? false,
          replaceStreams: options.streams ?? false,
          say: printer.say,
        }
        const isNamed = options.databaseUrl !== undefined || Boolean(io.env.DATABASE_URL)
        const { installation, roles, streams } = isNamed
          ? await ops.adoptNamed(ops.findTarget({ ...options, home }, io.env), home, io.env, task)
          : await ops.adoptOwn(home, task)
        printer.one({ installationId: installation.id, roles, streams }, [
          ['INSTALLATION_ID', installation.id],
          ...roles.map(({ service, role, database }): [string, string] => [
            service,
            `${role} in ${database}`,
          ]),
          ['streams marked', streams.join(', ') || null],
        ])
      }),
    )
}

const help = `The services are stopped. Roles and the database of tenants' data that an earlier version has made without a prefix are
renamed, and keep their passwords. A copy of a database on the server of its original gets an id, and roles and rights of its own; the copy
of the tenants' data is named in DATA_DATABASE_URL then. Whatever ends it, run it again: it goes on where it was.

With --database-url (DATABASE_URL) the passwords of the services come from DATABASE_PASSWORDS, and their id from INSTALLATION_ID,
as opsplane migrate has them. Afterwards give each service the role that is listed for it in its DATABASE_URL, and the id in
INSTALLATION_ID. Without it this is about the local run of --home, whose secrets.json is kept up to date.

Examples:
  $ opsplane adopt --home .opsplane
  $ opsplane adopt --database-url postgres://… --nats-url nats://…
  $ DATA_DATABASE_URL=postgres://…/copy_data opsplane adopt --database-url postgres://…/copy`
