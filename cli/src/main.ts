#!/usr/bin/env node
import { runOpsplane } from './run.js'

process.exitCode = await runOpsplane(process.argv.slice(2))
