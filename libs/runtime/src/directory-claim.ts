import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { findProcess, type ProcessEntry, signalProcess, waitForExit } from './process-table.js'

const STOP_TIMEOUT_MS = 15_000
const DYING_MS = 3_000

/** A running platform uses this directory. */
export class DirectoryInUseError extends Error {}

interface Claim {
  serverPid: number
  ownerPid: number
}

/**
 * Ensures that no server from an earlier run still uses a directory. A server whose parent process is gone is
 * stopped. A server whose parent is alive belongs to a running platform: it is left alone, and this throws
 * DirectoryInUseError. `marker` is a part of the server's command line (its directory), because pids are reused.
 */
export async function claimDirectory(
  claimFile: string,
  marker: string,
  stopSignal: NodeJS.Signals,
): Promise<(serverPid: number) => void> {
  const claim = readClaim(claimFile)
  const server = claim && findProcess(claim.serverPid)
  if (claim && server?.commandLine.includes(marker))
    await removeFormerServer(claim, server, marker, stopSignal)
  return (serverPid) =>
    writeFileSync(claimFile, JSON.stringify({ serverPid, ownerPid: process.pid } satisfies Claim))
}

/** Deletes the claim after an orderly stop. */
export function releaseDirectory(claimFile: string): void {
  rmSync(claimFile, { force: true })
}

async function removeFormerServer(
  { ownerPid }: Claim,
  server: ProcessEntry,
  marker: string,
  stopSignal: NodeJS.Signals,
): Promise<void> {
  if (server.parentPid !== ownerPid || !findProcess(ownerPid)) return stopStray(server.pid, stopSignal)
  // It may just have been killed.
  if (await waitForExit(server.pid, DYING_MS)) return
  throw new DirectoryInUseError(
    `${marker} is in use by process ${ownerPid} (server ${server.pid}). Stop that process first.`,
  )
}

async function stopStray(pid: number, stopSignal: NodeJS.Signals): Promise<void> {
  signalProcess(pid, stopSignal)
  if (await waitForExit(pid, STOP_TIMEOUT_MS)) return
  signalProcess(pid, 'SIGKILL')
  if (!(await waitForExit(pid, STOP_TIMEOUT_MS))) throw new Error(`Process ${pid} cannot be stopped`)
}

function readClaim(claimFile: string): Claim | undefined {
  try {
    return JSON.parse(readFileSync(claimFile, 'utf8')) as Claim
  } catch {
    // No claim, or one half written by a killed run: the guard of that run stops the server.
    return undefined
  }
}
