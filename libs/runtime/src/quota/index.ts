export * from './budgets.js'
export * from './exceeded.js'
export * from './limits.js'
