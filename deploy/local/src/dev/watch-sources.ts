import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { packagesBelow } from '@opsplane/bundler/compile'

/** Editors write a file in several steps, and tools write many files in a row. */
const quietMs = 50

/**
 * Calls `onChange` after files below the `src` of any package have changed: once for all changes within the quiet
 * time, and not again before the call has resolved. Folders created later are watched as well.
 */
export function watchSources(root: string, onChange: () => Promise<void>): { close(): void } {
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  let working = false
  let changedMeanwhile = false

  const work = async () => {
    if (working) {
      changedMeanwhile = true
      return
    }
    working = true
    do {
      changedMeanwhile = false
      watchFolders()
      await onChange()
    } while (changedMeanwhile)
    working = false
  }
  const changed = () => {
    clearTimeout(timer)
    timer = setTimeout(() => void work(), quietMs)
  }
  const watchFolders = () => {
    for (const folder of packagesBelow(root).flatMap((each) => foldersBelow(join(each, 'src')))) {
      if (watchers.has(folder)) continue
      const watcher = watch(folder, changed)
      const forget = () => {
        watcher.close()
        watchers.delete(folder)
      }
      // The watched folder was removed.
      watcher.on('error', forget)
      watchers.set(folder, watcher)
    }
  }
  watchFolders()
  return {
    close() {
      clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}

const foldersBelow = (folder: string): string[] => [
  folder,
  ...readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name)),
]
