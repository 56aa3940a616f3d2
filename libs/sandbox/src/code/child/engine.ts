import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import release from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { type Guest, prepareGuest } from './guest.js'
import { createSnapshot } from './snapshot.js'

/** The types describe the CommonJS form, in which this import would be a property. */
const variant = release as unknown as QuickJSSyncVariant

/** The used part of WebAssembly, which Node's types do not declare. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Memory: new (pages: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer }
}

/** QuickJS with its own memory, and a guest that has not run any code yet. */
export interface Instance {
  quickjs: QuickJSWASMModule
  guest: Guest
  /** Resets the guest to its initial state. */
  restore(): void
  /** Memory limit of the code, in MB. */
  memoryMb: number
  /** Peak memory of the code in MB; 0 if the memory never grew beyond its initial size. */
  grownMb(): number
}

interface Engine {
  acquire(memoryMb: number): Promise<Instance>
  /** Returns a working instance for reuse by another run. */
  release(instance: Instance): void
}

const pageBytes = 64 * 1024
const megabyte = 1024 * 1024
const initialPages = 256
/** Memory of QuickJS in addition to the values of the code, in MB: its stack and its tables. */
const ownMb = 7
const keptInstances = 4

/**
 * Creates instances of QuickJS, which is compiled once. Each invocation starts from the memory its instance had when its
 * guest was created; restoring it takes a tenth of the time of creating one (ADR 100). The memory limit of QuickJS
 * counts blocks instead of bytes (it is built without `malloc_usable_size`), so the maximum of the WebAssembly memory is
 * the actual limit.
 */
export function createEngine(): Engine {
  const file = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm')
  const wasmModule = new WebAssembly.Module(readFileSync(file))
  const kept: Instance[] = []

  async function create(memoryMb: number): Promise<Instance> {
    const maximum = Math.max(initialPages, Math.ceil(((memoryMb + ownMb) * megabyte) / pageBytes))
    const wasmMemory = new WebAssembly.Memory({ initial: initialPages, maximum })
    const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule, wasmMemory }))
    const grownMb = () => {
      const bytes = wasmMemory.buffer.byteLength
      return bytes <= initialPages * pageBytes ? 0 : Math.min(memoryMb, bytes / megabyte - ownMb)
    }
    const guest = prepareGuest(quickjs)
    const { restore } = createSnapshot(wasmMemory)
    return { quickjs, guest, restore, memoryMb, grownMb }
  }

  return {
    async acquire(memoryMb) {
      const at = kept.findIndex((instance) => instance.memoryMb === memoryMb)
      return at < 0 ? create(memoryMb) : (kept.splice(at, 1)[0] as Instance)
    },
    release(instance) {
      if (instance.grownMb() > 0 || kept.length >= keptInstances) return
      instance.restore()
      kept.push(instance)
    },
  }
}
