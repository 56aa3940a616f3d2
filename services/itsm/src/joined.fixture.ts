import { fileURLToPath } from 'node:url'
import { joinTestService } from '@opsplane/testing'

const program = fileURLToPath(new URL('./served.fixture.js', import.meta.url))

/** The service of the run, for test files that look at nothing of it but what belongs to a workspace of their own. */
export const joinItsm = () => joinTestService('itsm', program)
