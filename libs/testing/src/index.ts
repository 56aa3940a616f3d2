export * from './https-receiver.js'
export * from './test-env.js'
export * from './wait-for.js'
