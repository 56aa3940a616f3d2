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

/** Its types are those of its CommonJS form, where what is imported here would be a property. */
const variant = release as unknown as QuickJSSyncVariant

/** What of it is used: the types of Node do not have it. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Memory: new (pages: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer }
}

/** QuickJS with a memory of its own, and a guest in it that has not run any code yet. */
export interface Instance {
  quickjs: QuickJSWASMModule
  guest: Guest
  /** Puts the guest back to what it was. */
  restore(): void
  /** MB its code may have. */
  memoryMb: number
  /** MB its code has had so far, at the most; 0 as long as it is less than what every instance has from its start. */
  grownMb(): number
}

interface Engine {
  acquire(memoryMb: number): Promise<Instance>
  /** One that works still, for another run. */
  release(instance: Instance): void
}

const pageBytes = 64 * 1024
const megabyte = 1024 * 1024
const initialPages = 256
/** Memory of QuickJS in addition to the values of the code: its stack, and its tables. */
const ownMb = 7
const keptInstances = 4

/**
 * Instances of QuickJS, compiled once. Each invocation begins with the memory that its instance had when its guest was made, which
 * takes a tenth of making one (ADR 100). Its own limit on memory counts blocks, not their bytes (it is built without
 * `malloc_usable_size`), so what bounds it is the WebAssembly memory, which cannot grow beyond its maximum.
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
