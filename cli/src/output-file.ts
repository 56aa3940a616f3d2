import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import type { Sink } from './audit-export.js'
import { CliError, usageError } from './failure.js'

/**
 * Creates a file that only its owner can read. Until it is complete, its name ends with `.part`. Throws CliError if the
 * file exists and `replace` is false, or if it cannot be written.
 */
export async function createOutputFile(path: string, { replace = false } = {}): Promise<Sink> {
  if (!replace && existsSync(path))
    throw usageError(`${path} already exists. Give another name, or --force to replace it.`)
  const partial = `${path}.part`
  const reported = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw new CliError(`${path} cannot be written (${code}).`, 1, { cause: error })
    }
  }
  // A file left behind by a killed run may have another mode.
  await reported(rm(partial, { force: true }))
  const file = await reported(open(partial, 'wx', 0o600))
  return {
    write: async (text) => void (await reported(file.writeFile(text))),
    async finish() {
      await reported(file.sync())
      await reported(file.close())
      await reported(rename(partial, path))
    },
    async discard() {
      await file.close().catch(() => undefined)
      await rm(partial, { force: true })
    },
  }
}
