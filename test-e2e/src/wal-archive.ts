import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'

/** Recovers a Postgres server to a point in time: base backups and all WAL since, kept in a folder. */
export interface WalArchive {
  /** Flags with which the server archives its WAL. */
  postgresFlags: string[]
  /** Copies the data folder of a running server, as pg_basebackup does. */
  baseBackup(postgresUrl: string): Promise<void>
  /** Replaces the data folder by the base backup, to be recovered up to an instant when the server starts. */
  recoverTo(instant: string): void
}

export function walArchive(folder: string, dataDir: string): WalArchive {
  const [archived, base] = [join(folder, 'wal'), join(folder, 'base.tar')]
  mkdirSync(archived, { recursive: true })
  // The server runs as another user if this process is root.
  chmodSync(archived, 0o777)
  let label = ''
  return {
    postgresFlags: ['archive_mode=on', `archive_command=test ! -f ${archived}/%f && cp %p ${archived}/%f`],
    async baseBackup(postgresUrl) {
      const sql = postgres(postgresUrl, { max: 1, onnotice: () => {} })
      try {
        await sql`select pg_backup_start('base', fast => true)`
        tar('-C', dataDir, '--exclude=./pg_wal/*', '--exclude=./postmaster.pid', '-cf', base, '.')
        const [end] = await sql<{ labelfile: string }[]>`select labelfile from pg_backup_stop()`
        label = String(end?.labelfile)
      } finally {
        await sql.end()
      }
    },
    recoverTo(instant) {
      rmSync(dataDir, { recursive: true, maxRetries: 20, retryDelay: 100 })
      // The server is started as the owner of the files.
      mkdirSync(dataDir, { mode: 0o700 })
      tar('-C', dataDir, '-xf', base, '--no-same-owner')
      writeFileSync(join(dataDir, 'backup_label'), label)
      writeFileSync(join(dataDir, 'recovery.signal'), '')
      const settings = [
        `restore_command = 'cp ${archived}/%f %p'`,
        `recovery_target_time = '${instant}'`,
        `recovery_target_action = 'promote'`,
      ]
      appendFileSync(join(dataDir, 'postgresql.auto.conf'), `${settings.join('\n')}\n`)
    },
  }
}

/** Exit code 1 means that a file was changed or removed while it was read, which WAL replay corrects. */
function tar(...args: string[]): void {
  const { status, stderr, error } = spawnSync('tar', args, { encoding: 'utf8' })
  if (error) throw error
  if (status !== 0 && status !== 1) throw new Error(`tar ${args.join(' ')}: ${stderr}`)
}
