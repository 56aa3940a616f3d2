import { fileURLToPath } from 'node:url'
import { joinTestService } from '@opsplane/testing'

const program = fileURLToPath(new URL('./served.fixture.js', import.meta.url))

/** Joins the service shared by the test run. For test files that only look at data of their own workspace. */
export const joinItsm = () => joinTestService('itsm', program)
