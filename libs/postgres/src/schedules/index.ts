export {
  findSchedule,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  type ScheduleOwner,
  upsertSchedule,
} from './store.js'
export { dueSchedules, scheduleFires, schedules } from './tables.js'
export { type ScheduleRow, scheduleWork } from './worker.js'
