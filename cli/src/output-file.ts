import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import type { Sink } from './audit-export.js'
import { CliError, usageError } from './failure.js'

/**
 * A file that only its owner can read, and that has its name once it is whole: until then, `.part` is added to that.
 * Throws CliError when there is such a file already, unless it may be replaced, and when it cannot be written.
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
  // One that a killed run left behind may have a mode of its own.
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
