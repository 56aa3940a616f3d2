import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { findProcess, type ProcessEntry, signalProcess, waitForExit } from './process-table.js'

const STOP_TIMEOUT_MS = 15_000
const DYING_MS = 3_000

/** A running platform keeps its data in this folder. */
export class DirectoryInUseError extends Error {}

interface Claim {
  serverPid: number
  ownerPid: number
}

/**
 * Makes sure no server from an earlier run still works in a directory: one whose starter is gone is
 * stopped, one whose starter lives is a running platform, so it stays and this throws
 * DirectoryInUseError.
 * `marker` is a part of the server's command line (its directory), as pids are reused.
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

/** Forgets the claim after an orderly stop. */
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
    // None, or half written by a run that was killed: its guard stops the server.
    return undefined
  }
}
