/** Paths of the sources that were compiled, and how many outputs of removed sources are gone. */
export interface Compiled {
  compiled: string[]
  removed: number
}

/** Brings `dist` of every package up to date. Rejects with esbuild's messages. */
export function compile(root?: string): Promise<Compiled>

/** Folders with a `tsconfig.json` next to their `src`. */
export function packagesBelow(folder: string): string[]
