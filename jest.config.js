/** Tests run compiled, as plain Node modules: `node deploy/bundler/compile.mjs` first, so what is tested is what ships. */
export default {
  testEnvironment: 'node',
  testMatch: [
    '<rootDir>/{libs,services,deploy}/*/dist/**/*.test.js',
    '<rootDir>/{libs,services}/*/dist/*.test.js',
    '<rootDir>/services/apps/web/dist/**/*.test.js',
    '<rootDir>/{cli,client,console}/dist/**/*.test.js',
    '<rootDir>/test-e2e/dist/**/*.test.js',
    '<rootDir>/docs/examples/dist/**/*.test.js',
  ],
  transform: {},
  globalSetup: '<rootDir>/libs/testing/dist/global-setup.js',
  globalTeardown: '<rootDir>/libs/testing/dist/global-teardown.js',
  testRunner: '<rootDir>/libs/testing/dist/jest/runner.js',
  reporters: ['default', '<rootDir>/libs/testing/dist/jest/profile-reporter.js'],
  testSequencer: '<rootDir>/libs/testing/dist/jest/sequencer.js',
  // Much of what tests do is wait: two more than the cores it is meant for.
  maxWorkers: 4,
  // A worker keeps every module its files have imported: at its heap's limit it would be slow, for collecting it.
  workerIdleMemoryLimit: '1GB',
  // The end of a process with that much memory takes longer than half a second where four end at once.
  workerGracefulExitTimeout: 10_000,
}
